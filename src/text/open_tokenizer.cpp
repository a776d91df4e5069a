#include <algorithm>
#include <stdexcept>

#include "blockzoo/text/tokenizer.h"
#include "text/foreign_format.h"
#include "text/json_node.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/subword_tokenizer.h"
#include "text/tokenizer_parts.h"
#include "text/whole_file.h"

namespace blockzoo {
namespace {

namespace fs = std::filesystem;

/// The name of the token that ends a text, which tokenizer_config.json gives as text or as a map with its content.
std::optional<std::string> named_end(const fs::path& folder) {
  const auto file = folder / "tokenizer_config.json";
  if (!fs::exists(file)) return std::nullopt;
  const auto config = nlohmann::json::parse(whole_file(file), nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) throw std::runtime_error(file.string() + ": is not JSON");
  const auto token = config.value("eos_token", nlohmann::json());
  if (token.is_string()) return token.get<std::string>();
  if (token.is_object() && token.contains("content") && token["content"].is_string())
    return token["content"].get<std::string>();
  return std::nullopt;
}

std::optional<int64_t> end_id(const std::vector<std::string>& pieces, const fs::path& folder) {
  const auto id_of = [&](const std::string& name) -> std::optional<int64_t> {
    const auto found = std::find(pieces.begin(), pieces.end(), name);
    if (found == pieces.end()) return std::nullopt;
    return found - pieces.begin();
  };
  if (const auto name = named_end(folder)) return id_of(*name);
  for (const auto* usual : {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"})
    if (const auto id = id_of(usual)) return id;
  return std::nullopt;
}

std::unique_ptr<Tokenizer> open_file(const fs::path& file) {
  const auto bytes = whole_file(file);
  try {
    const auto end_of_text = [&](const auto& pieces) { return end_id(pieces, file.parent_path()); };
    if (file.extension() == ".model") return std::make_unique<SentencePieceTokenizer>(bytes, end_of_text);
    auto parts = parse_tokenizer_json(bytes);
    const auto end = end_of_text(parts.pieces);
    return std::make_unique<SubwordTokenizer>(std::move(parts), end);
  } catch (const std::runtime_error& error) {
    if (const auto format = foreign_format(bytes))
      throw std::runtime_error(file.string() + ": is " + std::string(*format) +
                               ", which is not read; tokenizer.json and SentencePiece's tokenizer.model are");
    throw std::runtime_error(file.string() + ": " + error.what());
  }
}

}  // namespace

std::unique_ptr<Tokenizer> open_tokenizer(const fs::path& path) {
  if (!fs::exists(path)) throw std::runtime_error(path.string() + ": there is no such tokenizer");
  if (!fs::is_directory(path)) return open_file(path);
  for (const auto* name : {"tokenizer.json", "tokenizer.model"})
    if (fs::exists(path / name)) return open_file(path / name);
  const auto foreign = foreign_file(path);
  throw std::runtime_error(path.string() + ": has neither tokenizer.json nor tokenizer.model" +
                           (foreign.empty() ? "" : "; " + foreign + " is of a format that is not read"));
}

}  // namespace blockzoo
