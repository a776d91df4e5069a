#include "blockzoo/train/run_config.h"

#include "blockzoo/core/embedded.h"
#include "blockzoo/core/hash.h"
#include "core/reader.h"
#include "core/writer.h"

namespace blockzoo {
namespace {

constexpr int kMostBases = 8;

struct Document {
  Tree tree;
  std::filesystem::path folder;  // relative paths inside are seen from here
};

/// A file, or else an embedded config of that name.
Document open_document(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    const auto name = path.lexically_normal().generic_string();
    for (const auto& file : embedded_configs()) {
      if (name == file.name || name.ends_with("/" + std::string(file.name)))
        return {parse_yaml(file.text, "built-in " + std::string(file.name)), path.parent_path()};
    }
  }
  return {load_yaml(path), path.parent_path()};
}

RunConfig load(const std::filesystem::path& path, int depth);

/// The base that a document names, which is taken out of it.
RunBase take_base(Document& document, int depth) {
  const auto* named = document.tree.find("base");
  if (named == nullptr) return {"the defaults", RunConfig{}};
  if (!named->is_scalar()) throw ConfigError(Problem{named->place, "base", "must be the path of another run file"});
  if (depth >= kMostBases) throw ConfigError(Problem{named->place, "base", "a chain of more than 8 files"});
  const auto name = named->text;
  std::erase_if(document.tree.entries, [](const auto& entry) { return entry.key == "base"; });
  return {name, load(document.folder / name, depth + 1)};
}

RunConfig load(const std::filesystem::path& path, int depth) {
  auto document = open_document(path);
  if (document.tree.kind == Tree::Kind::kNull)
    throw ConfigError(
        Problem{document.tree.place, "", "the file holds no keys; {} stands for a run with every default"});
  const auto base = take_base(document, depth);
  return patched(base.config, document.tree, document.folder);
}

}  // namespace

RunConfig patched(const RunConfig& base, const Tree& patch, const std::filesystem::path& folder) {
  if (patch.kind == Tree::Kind::kNull) return base;
  Tree whole = overlay(to_document(base), patch);
  whole.place = patch.place;
  auto config = read_config<RunConfig>(whole);
  resolve_paths(config.data.corpus, folder);
  return config;
}

RunConfig load_run_config(const std::filesystem::path& path, const std::vector<std::string>& sets) {
  auto config = load(path, 0);
  Tree patch = Tree::map();
  for (const auto& set : sets) patch = overlay(patch, parse_assignment(set));
  return sets.empty() ? config : patched(config, patch, std::filesystem::current_path());
}

RunBase load_run_base(const std::filesystem::path& path) {
  auto document = open_document(path);
  return take_base(document, 0);
}

Tree to_document(const RunConfig& config) { return to_tree(config); }

RunConfig resolved(const RunConfig& config) {
  auto full = config;
  full.model = resolved(config.model);
  return full;
}

std::string identity(const RunConfig& config) {
  auto bare = resolved(config);
  for (auto* path : paths_of(bare.data.corpus)) *path = std::filesystem::path(*path).filename().string();
  const TrainConfig defaults;
  bare.train.threads = defaults.threads;
  bare.train.log_every = defaults.log_every;
  bare.train.save_every = defaults.save_every;
  bare.train.keep = defaults.keep;
  return hex(hash_bytes(write_yaml(to_tree(bare))));
}

}  // namespace blockzoo
