#include "blockzoo/data/text_files.h"

#include "data/file_set.h"

namespace blockzoo {

std::vector<std::filesystem::path> text_files(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    const FileSet found(path);
    for (const auto& file : found.files()) files.emplace_back(file.path);
  }
  return files;
}

}  // namespace blockzoo
