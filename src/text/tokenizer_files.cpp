#include "text/tokenizer_files.h"

#include <nlohmann/json.hpp>

#include "text/word_patterns.h"

namespace blockzoo {
namespace {

using FileJson = nlohmann::ordered_json;

const char* expression_of(WordPattern pattern) {
  switch (pattern) {
    case WordPattern::kLlama3:
      return kLlama3Pattern;
    case WordPattern::kQwen2:
      return kQwen2Pattern;
    case WordPattern::kGpt2:
      break;
  }
  return kGpt2Pattern;
}

FileJson byte_level_json(bool regex) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", regex}};
}

FileJson pre_tokenizer_json(WordPattern pattern) {
  if (pattern == WordPattern::kGpt2) return byte_level_json(true);
  const FileJson split{
      {"type", "Split"}, {"pattern", {{"Regex", expression_of(pattern)}}}, {"behavior", "Isolated"}, {"invert", false}};
  return {{"type", "Sequence"}, {"pretokenizers", FileJson::array({split, byte_level_json(false)})}};
}

FileJson added_json(const std::vector<std::string>& special) {
  auto added = FileJson::array();
  for (const auto& content : special)
    added.push_back({{"id", added.size()},
                     {"content", content},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  return added;
}

FileJson model_json(const LearntMerges& learnt) {
  FileJson::object_t vocabulary;  // grows without a search for each key
  for (size_t id = 0; id < learnt.tokens.size(); ++id)
    vocabulary.FileJson::object_t::Container::emplace_back(learnt.tokens[id], id);
  auto merges = FileJson::array();
  for (const auto& [left, right] : learnt.merges)
    merges.push_back(FileJson::array({learnt.tokens[left], learnt.tokens[right]}));
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", false},
          {"vocab", vocabulary},
          {"merges", merges}};
}

}  // namespace

std::vector<PreTokenizerStep> word_pattern_steps(WordPattern pattern) {
  return {SplitStep{Pattern(expression_of(pattern))}};
}

std::map<std::string, std::string> tokenizer_files(const TokenizerTraining& training, const LearntMerges& learnt) {
  const FileJson tokenizer{{"version", "1.0"},           {"truncation", nullptr},
                           {"padding", nullptr},         {"added_tokens", added_json(training.special)},
                           {"normalizer", nullptr},      {"pre_tokenizer", pre_tokenizer_json(training.pattern)},
                           {"post_processor", nullptr},  {"decoder", byte_level_json(true)},
                           {"model", model_json(learnt)}};
  FileJson config{{"tokenizer_class", "PreTrainedTokenizerFast"}, {"clean_up_tokenization_spaces", false}};
  if (!training.special.empty()) config["eos_token"] = training.special[0];
  return {{"tokenizer.json", tokenizer.dump(2) + "\n"}, {"tokenizer_config.json", config.dump(2) + "\n"}};
}

}  // namespace blockzoo
