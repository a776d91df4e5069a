#include "blockzoo/text/byte_tokenizer.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "blockzoo/core/hash.h"
#include "text/byte_letters.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;

Json letters_to_bytes() {
  Json letters = Json::object();
  for (int byte = 0; byte < 256; ++byte) letters[std::string(byte_letter(static_cast<uint8_t>(byte)))] = byte;
  return letters;
}

char byte_of(int64_t id) {
  if (id < 0 || id > 255)
    throw std::out_of_range("the tokenizer of bytes has ids 0 to 255 and not " + std::to_string(id));
  return static_cast<char>(id);
}

}  // namespace

std::vector<int64_t> ByteTokenizer::ids_of(std::string_view text, TextStart) const {
  std::vector<int64_t> ids(text.size());
  for (size_t i = 0; i < text.size(); ++i) ids[i] = static_cast<uint8_t>(text[i]);
  return ids;
}

std::string ByteTokenizer::decode(std::span<const int64_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (const auto id : ids) text += byte_of(id);
  return text;
}

std::string ByteTokenizer::piece(int64_t id) const {
  return std::string(byte_letter(static_cast<uint8_t>(byte_of(id))));
}

int64_t ByteTokenizer::text_bytes(int64_t id) const {
  byte_of(id);
  return 1;
}

uint64_t ByteTokenizer::hash() const { return hash_bytes("one id a byte"); }

std::map<std::string, std::string> byte_tokenizer_files(int64_t context) {
  const Json bytes{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  const Json tokenizer{{"version", "1.0"},
                       {"truncation", nullptr},
                       {"padding", nullptr},
                       {"added_tokens", Json::array()},
                       {"normalizer", nullptr},
                       {"pre_tokenizer", bytes},
                       {"post_processor", nullptr},
                       {"decoder", bytes},
                       {"model",
                        {{"type", "BPE"},
                         {"dropout", nullptr},
                         {"unk_token", nullptr},
                         {"continuing_subword_prefix", nullptr},
                         {"end_of_word_suffix", nullptr},
                         {"fuse_unk", false},
                         {"byte_fallback", false},
                         {"vocab", letters_to_bytes()},
                         {"merges", Json::array()}}}};
  const Json config{{"tokenizer_class", "PreTrainedTokenizerFast"},
                    {"model_max_length", context},
                    {"clean_up_tokenization_spaces", false}};
  return {{"tokenizer.json", tokenizer.dump(1) + "\n"}, {"tokenizer_config.json", config.dump(2) + "\n"}};
}

}  // namespace blockzoo
