#include "blockzoo/train/run_config.h"

#include <span>
#include <utility>

#include "blockzoo/core/config_error.h"
#include "blockzoo/core/hash.h"
#include "blockzoo/nn/smaller.h"
#include "blockzoo/text/tokenizer.h"
#include "core/document.h"
#include "core/reader.h"
#include "core/writer.h"
#include "data/file_hash.h"

namespace blockzoo {
namespace {

/// What the rules cannot know before paths are resolved: how many ids the tokenizer's file has.
void check_tokenizer(const RunConfig& config, const Place& place) {
  const auto* file = tokenizer_file_of(config.data.corpus);
  if (file == nullptr) return;
  int64_t needed = 0;
  try {
    needed = open_tokenizer(file->path)->vocabulary();
  } catch (const std::exception& error) {
    throw ConfigError(Problem{place, "data.corpus.tokenizer", error.what()});
  }
  if (config.model.vocabulary < needed)
    throw ConfigError(Problem{place, "model.vocabulary",
                              "is " + std::to_string(config.model.vocabulary) + ", but the tokenizer " + file->path +
                                  " has ids up to " + std::to_string(needed - 1)});
}

RunConfig laid_over_each_other(std::span<const Document> chain) {
  RunConfig config;
  for (const auto& document : chain) {
    if (document.scale) config.model = smaller(config.model, *document.scale);
    config = patched(config, document.tree, document.folder);
  }
  return config;
}

RunConfig read(Document document, const std::vector<std::string>& sets) {
  const auto config = laid_over_each_other(with_bases(std::move(document)));
  return sets.empty() ? config : patched(config, parse_assignments(sets), std::filesystem::current_path());
}

/// The copy of its tokenizer that a run keeps, for config.yaml in its folder or in one of its checkpoints'.
std::filesystem::path kept_tokenizer(const std::filesystem::path& config) {
  const auto folder = std::filesystem::absolute(config).parent_path();
  if (config.filename() != "config.yaml") return {};
  const auto run = std::filesystem::exists(folder / "state.json") ? folder.parent_path().parent_path() : folder;
  const bool kept = std::filesystem::exists(run / "run.json") && std::filesystem::exists(run / kKeptTokenizer);
  return kept ? run / kKeptTokenizer : std::filesystem::path();
}

Document named_document(const std::filesystem::path& path, const std::string& scale) {
  if (!scale.empty()) return document_over(path.string(), scale);
  auto document = open_document({}, path);
  if (const auto kept = kept_tokenizer(path); !kept.empty())
    document.tree["data"]["corpus"]["tokenizer"]["path"] = Tree::scalar(kept.string(), /*quoted=*/true);
  return document;
}

}  // namespace

RunConfig patched(const RunConfig& base, const Tree& patch, const std::filesystem::path& folder) {
  if (patch.kind == Tree::Kind::kNull) return base;
  Tree whole = overlay(to_document(base), patch);
  whole.place = patch.place;
  auto config = read_config<RunConfig>(whole);
  resolve_paths(config.data.corpus, folder);
  check_tokenizer(config, whole.place);
  if (auto* weights = std::get_if<WeightsStart>(&config.start))
    weights->path = std::filesystem::absolute(folder / weights->path).lexically_normal().string();
  return config;
}

RunConfig read_run_config(const Tree& tree, const std::filesystem::path& folder, const std::vector<std::string>& sets) {
  return read({tree, folder}, sets);
}

RunConfig load_run_config(const std::filesystem::path& path, const std::vector<std::string>& sets,
                          const std::string& scale) {
  return read(named_document(path, scale), sets);
}

RunBase load_run_base(const std::filesystem::path& path, const std::string& scale) {
  const auto chain = with_bases(named_document(path, scale));
  const auto& name = chain.back().base;
  return {name.empty() ? "the defaults" : name, laid_over_each_other(std::span(chain).first(chain.size() - 1))};
}

Tree to_document(const RunConfig& config) { return to_tree(config); }

RunConfig resolved(const RunConfig& config) {
  auto full = config;
  full.model = resolved(config.model);
  return full;
}

std::string identity(const RunConfig& config) {
  auto bare = resolved(config);
  std::string tokenizer;
  if (const auto* file = tokenizer_file_of(bare.data.corpus)) tokenizer = hex(open_tokenizer(file->path)->hash());
  for (auto* path : paths_of(bare.data.corpus)) *path = std::filesystem::path(*path).filename().string();
  if (auto* text = std::get_if<TextConfig>(&bare.data.corpus); text != nullptr && !tokenizer.empty())
    std::get<FileTokenizerConfig>(text->tokenizer).path = tokenizer;
  const TrainConfig defaults;
  bare.train.threads = defaults.threads;
  bare.train.log_every = defaults.log_every;
  bare.train.save_every = defaults.save_every;
  bare.train.keep = defaults.keep;
  bare.train.probe_every = defaults.probe_every;
  bare.train.sample = defaults.sample;
  if (auto* weights = std::get_if<WeightsStart>(&bare.start)) weights->path = hex(file_hash(weights->path));
  auto tree = to_tree(bare);
  if (const auto* text = std::get_if<TextConfig>(&bare.data.corpus); text != nullptr && tokenizer.empty())
    std::erase_if(tree["data"]["corpus"].entries, [](const auto& entry) { return entry.key == "tokenizer"; });
  if (std::holds_alternative<DrawnStart>(bare.start))  // runs from before there was a choice keep their identity
    std::erase_if(tree.entries, [](const auto& entry) { return entry.key == "start"; });
  std::erase_if(tree["train"].entries,
                [](const auto& entry) { return entry.key == "probe_every" || entry.key == "sample"; });  // the same
  if (bare.train.kernels == Kernels::kReference)  // as those runs were computed
    std::erase_if(tree["train"].entries, [](const auto& entry) { return entry.key == "kernels"; });
  return hex(hash_bytes(write_yaml(tree)));
}

std::string run_file(const ModelConfig& model, const StartConfig& start) {
  Tree tree = Tree::map();
  tree["model"] = to_tree(model);
  tree["start"] = to_tree(start);
  return write_yaml(tree);
}

}  // namespace blockzoo
