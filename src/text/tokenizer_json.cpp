#include "blockzoo/core/hash.h"
#include "text/byte_piece.h"
#include "text/json_model.h"
#include "text/json_steps.h"
#include "text/tokenizer_parts.h"

namespace blockzoo {
namespace {

constexpr int64_t kHighestId = (1 << 24) - 1;

std::vector<AddedToken> read_added_tokens(const JsonNode& list) {
  std::vector<AddedToken> tokens;
  if (list.is_null()) return tokens;
  for (size_t i = 0; i < list.size(); ++i) {
    const auto node = list.at(i);
    node.expect_keys({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token{.id = node.get("id").number(kHighestId),
                     .content = node.get("content").text(),
                     .single_word = node.get("single_word").flag_or(false),
                     .lstrip = node.get("lstrip").flag_or(false),
                     .rstrip = node.get("rstrip").flag_or(false),
                     .normalized = node.get("normalized").flag_or(false),
                     .special = node.get("special").flag_or(false)};
    if (token.content.empty()) node.fail("has no content");
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// Adds the tokens to the pieces. One that the vocabulary knows must have the vocabulary's id.
void add_pieces(const std::vector<AddedToken>& added, const JsonNode& list, const JsonVocabulary& vocabulary,
                std::vector<std::string>& pieces) {
  for (size_t i = 0; i < added.size(); ++i) {
    const auto& token = added[i];
    const auto known = vocabulary.find(token.content);
    if (known != vocabulary.end() && known->second != token.id)
      list.at(i).fail("'" + token.content + "' has id " + std::to_string(token.id) + " here and " +
                      std::to_string(known->second) + " in the vocabulary");
    const auto id = static_cast<size_t>(token.id);
    if (pieces.size() <= id) pieces.resize(id + 1);
    if (!pieces[id].empty() && pieces[id] != token.content)
      list.at(i).fail("'" + token.content + "' has id " + std::to_string(token.id) + ", which is '" + pieces[id] +
                      "' already");
    pieces[id] = token.content;
  }
}

}  // namespace

TokenizerParts parse_tokenizer_json(const std::string& json) {
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(json);
  } catch (const nlohmann::json::exception& error) {
    const std::string_view reason = error.what();
    throw std::runtime_error("is not JSON: " + std::string(reason.substr(reason.find("] ") + 2)));  // behind its code
  }
  const JsonNode root(document);
  root.expect_keys({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
                    "decoder", "model"});
  for (const auto* key : {"truncation", "padding"})
    if (!root.get(key).is_null()) root.get(key).fail("is not supported; it must be null");

  require_known_model(root.get("model"));
  TokenizerParts parts;
  const auto added = root.get("added_tokens");
  parts.added = read_added_tokens(added);
  parts.normalizer = read_normalizer(root.get("normalizer"));
  auto pre_tokenizer = read_pre_tokenizer(root.get("pre_tokenizer"));
  parts.pre_tokenizer = std::move(pre_tokenizer.steps);
  parts.byte_letters = pre_tokenizer.byte_letters;
  const bool bytes = pre_tokenizer.byte_level && !pre_tokenizer.byte_letters;
  const auto vocabulary = read_model(root.get("model"), bytes, parts);
  add_pieces(parts.added, added, vocabulary, parts.pieces);
  read_post_processor(root.get("post_processor"), static_cast<int64_t>(parts.pieces.size()), parts.before, parts.after);
  for (auto& token : parts.added)
    if (token.normalized) token.content = normalize(parts.normalizer, token.content);
  parts.decoder = read_decoder(root.get("decoder"));
  for (const auto* key : {"normalizer", "pre_tokenizer", "added_tokens", "model"})
    parts.hash = hash_bytes(root.get(key).value().dump(), parts.hash);
  return parts;
}

}  // namespace blockzoo
