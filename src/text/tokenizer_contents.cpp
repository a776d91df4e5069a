#include "blockzoo/text/tokenizer_contents.h"

#include "text/whole_file.h"

namespace blockzoo {
namespace {

constexpr auto kTokenizerFiles = {"tokenizer.json",
                                  "tokenizer_config.json",
                                  "special_tokens_map.json",
                                  "added_tokens.json",
                                  "vocab.json",
                                  "merges.txt",
                                  "tokenizer.model",
                                  "vocab.txt",
                                  "chat_template.jinja"};

}  // namespace

std::map<std::string, std::string> tokenizer_contents(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  if (fs::is_regular_file(path))
    return {{path.extension() == ".model" ? "tokenizer.model" : "tokenizer.json", whole_file(path)}};
  std::map<std::string, std::string> files;
  for (const auto* name : kTokenizerFiles)
    if (fs::is_regular_file(path / name)) files.emplace(name, whole_file(path / name));
  return files;
}

}  // namespace blockzoo
