#include "blockzoo/hub/byte_tokenizer.h"

#include <nlohmann/json.hpp>

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;

bool printable(int byte) { return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174; }

/// UTF-8 of a code point below 2048.
std::string utf8(int point) {
  if (point < 0x80) return {static_cast<char>(point)};
  return {static_cast<char>(0xc0 | (point >> 6)), static_cast<char>(0x80 | (point & 0x3f))};
}

/// The letters by which GPT-2's byte-level tokenizers write the bytes: printable Latin-1 for itself, the others from
/// 256 on.
Json vocabulary() {
  Json letters = Json::object();
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) letters[utf8(printable(byte) ? byte : next++)] = byte;
  return letters;
}

}  // namespace

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
                         {"vocab", vocabulary()},
                         {"merges", Json::array()}}}};
  const Json config{{"tokenizer_class", "PreTrainedTokenizerFast"},
                    {"model_max_length", context},
                    {"clean_up_tokenization_spaces", false}};
  return {{"tokenizer.json", tokenizer.dump(1) + "\n"}, {"tokenizer_config.json", config.dump(2) + "\n"}};
}

}  // namespace blockzoo
