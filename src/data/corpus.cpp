#include "blockzoo/data/corpus.h"

namespace blockzoo {

int64_t vocabulary_size(const CorpusConfig& config) {
  return std::visit([](const auto& kind) { return kind.vocabulary_size(); }, config);
}

const FileTokenizerConfig* tokenizer_file_of(const CorpusConfig& config) {
  const auto* text = std::get_if<TextConfig>(&config);
  return text == nullptr ? nullptr : std::get_if<FileTokenizerConfig>(&text->tokenizer);
}

std::vector<std::string*> paths_of(CorpusConfig& config) {
  std::vector<std::string*> paths;
  std::visit(
      [&](auto& kind) {
        if constexpr (requires { kind.path; }) {
          paths.push_back(&kind.path);
          if constexpr (requires { kind.tokenizer; })
            if (auto* file = std::get_if<FileTokenizerConfig>(&kind.tokenizer)) paths.push_back(&file->path);
          if (auto* own = std::get_if<PathValidationConfig>(&kind.validation)) paths.push_back(&own->path);
        }
      },
      config);
  return paths;
}

void resolve_paths(CorpusConfig& config, const std::filesystem::path& folder) {
  for (auto* path : paths_of(config)) {
    if (!path->empty()) *path = std::filesystem::absolute(folder / *path).lexically_normal().string();
  }
}

}  // namespace blockzoo
