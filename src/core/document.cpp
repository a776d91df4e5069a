#include "core/document.h"

#include <algorithm>

#include "blockzoo/core/embedded.h"
#include "core/reader.h"

namespace blockzoo {
namespace {

constexpr size_t kMostBases = 8;

std::string carried_name(const std::filesystem::path& name) {
  auto text = name.lexically_normal().generic_string();
  while (text.starts_with("../")) text.erase(0, 3);
  if (text.starts_with("configs/")) text.erase(0, 8);
  return text;
}

/// A config that the program carries, under its whole name or, for a model, its bare one.
const EmbeddedFile* carried_config(const std::string& wanted) {
  for (const auto& file : embedded_configs()) {
    if (file.name == wanted || file.name == "models/" + wanted + ".yaml") return &file;
  }
  return nullptr;
}

std::string similar_name(const std::string& wanted) {
  std::vector<std::string> known;
  for (const auto& file : embedded_configs()) {
    known.emplace_back(file.name);
    if (file.name.starts_with("models/")) known.push_back(bare_name(file.name));
  }
  return did_you_mean(wanted, known);
}

std::optional<Tree> taken_out(Tree& tree, std::string_view key) {
  const auto entry =
      std::find_if(tree.entries.begin(), tree.entries.end(), [&](const auto& e) { return e.key == key; });
  if (entry == tree.entries.end()) return std::nullopt;
  auto value = std::move(entry->value);
  tree.entries.erase(entry);
  return value;
}

About read_about(const Tree& section) {
  About about;
  std::vector<Problem> problems;
  Reader(section, "about", problems).fill(about);
  if (!problems.empty()) throw ConfigError(std::move(problems));
  return about;
}

}  // namespace

std::string bare_name(const std::filesystem::path& name) {
  return name.extension() == ".yaml" || name.extension() == ".yml" ? name.stem().string() : name.filename().string();
}

Document open_document(const std::filesystem::path& folder, const std::filesystem::path& name) {
  const auto path = folder / name;
  const bool absent = !std::filesystem::exists(path);
  const bool bare = !name.has_parent_path();
  if (absent || (bare && std::filesystem::is_directory(path))) {
    const auto wanted = carried_name(name);
    if (const auto* file = carried_config(wanted))
      return {parse_yaml(file->text, "built-in " + std::string(file->name)), path.parent_path()};
    const auto hint = similar_name(wanted);
    if (absent && !hint.empty())
      throw ConfigError(Problem{{path.string(), 0, 0},
                                "",
                                "cannot be read: No such file or directory; no config has that name either" + hint});
  }
  return {load_yaml(path), path.parent_path()};
}

Document document_over(const std::string& name, const std::string& scale) {
  auto tree = nested("base", Tree::scalar(name));
  tree["scale"] = Tree::scalar(scale);
  tree["scale"].place.file = "--scale";
  return {std::move(tree), {}};
}

std::vector<Document> with_bases(Document document) {
  std::vector<Document> chain{std::move(document)};
  while (true) {
    auto& now = chain.back();
    if (now.tree.kind == Tree::Kind::kNull)
      throw ConfigError(Problem{now.tree.place, "", "the file holds no keys; {} stands for a run with every default"});
    if (const auto about = taken_out(now.tree, "about")) now.about = read_about(*about);
    now.scale = taken_out(now.tree, "scale");
    const auto named = taken_out(now.tree, "base");
    if (!named && now.scale)
      throw ConfigError(
          Problem{now.scale->place, "scale", "has no effect without base; it makes the base's model smaller"});
    if (!named) break;
    if (!named->is_scalar()) throw ConfigError(Problem{named->place, "base", "must be the path of another run file"});
    if (chain.size() > kMostBases) throw ConfigError(Problem{named->place, "base", "a chain of more than 8 files"});
    now.base = named->text;
    chain.push_back(open_document(now.folder, now.base));
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
