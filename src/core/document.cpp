#include "core/document.h"

#include <algorithm>

#include "blockzoo/core/embedded.h"

namespace blockzoo {
namespace {

constexpr size_t kMostBases = 8;

std::string carried_name(const std::filesystem::path& name) {
  auto text = name.lexically_normal().generic_string();
  while (text.starts_with("../")) text.erase(0, 3);
  if (text.starts_with("configs/")) text.erase(0, 8);
  return text;
}

}  // namespace

Document open_document(const std::filesystem::path& folder, const std::filesystem::path& name) {
  const auto path = folder / name;
  if (!std::filesystem::exists(path)) {
    const auto wanted = carried_name(name);
    for (const auto& file : embedded_configs()) {
      if (file.name == wanted) return {parse_yaml(file.text, "built-in " + wanted), path.parent_path(), ""};
    }
  }
  return {load_yaml(path), path.parent_path(), ""};
}

std::vector<Document> with_bases(Document document) {
  std::vector<Document> chain{std::move(document)};
  while (true) {
    auto& [tree, seen_from, base] = chain.back();
    if (tree.kind == Tree::Kind::kNull)
      throw ConfigError(Problem{tree.place, "", "the file holds no keys; {} stands for a run with every default"});
    const auto* named = tree.find("base");
    if (named == nullptr) break;
    if (!named->is_scalar()) throw ConfigError(Problem{named->place, "base", "must be the path of another run file"});
    if (chain.size() > kMostBases) throw ConfigError(Problem{named->place, "base", "a chain of more than 8 files"});
    base = named->text;
    std::erase_if(tree.entries, [](const auto& entry) { return entry.key == "base"; });
    chain.push_back(open_document(seen_from, base));
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

Tree parse_assignments(const std::vector<std::string>& assignments) {
  Tree patch = Tree::map();
  for (const auto& assignment : assignments) patch = overlay(patch, parse_assignment(assignment));
  return patch;
}

}  // namespace blockzoo
