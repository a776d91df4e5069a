#include "model_source.h"

#include <spdlog/fmt/fmt.h>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/checkpoint.h"
#include "blockzoo/hub/safetensors.h"
#include "blockzoo/text/byte_tokenizer.h"
#include "blockzoo/text/tokenizer_contents.h"

namespace blockzoo {
namespace {

namespace fs = std::filesystem;

void take_tokenizer(SourcedModel& model, const fs::path& path) {
  model.tokenizer = tokenizer_contents(path);
  if (!model.tokenizer.empty()) model.tokenizer_path = path.string();
}

/// What turned a run's text into ids, and the id that ends a text; nothing for ids that were made elsewhere.
void take_tokenizer(SourcedModel& model, const CorpusConfig& corpus) {
  const auto* text = std::get_if<TextConfig>(&corpus);
  const auto* file = text == nullptr ? nullptr : std::get_if<FileTokenizerConfig>(&text->tokenizer);
  if (file != nullptr) {
    take_tokenizer(model, fs::path(file->path));
    if (const auto end = open_tokenizer(file->path)->end_of_text())
      model.special_ids.emplace("eos_token_id", std::to_string(*end));
  } else if (!std::holds_alternative<TokensConfig>(corpus)) {
    model.tokenizer = byte_tokenizer_files(model.loaded.config.context);
  }
}

void refuse_options(const ModelSource& source, const std::string& what) {
  if (!source.sets.empty() || !source.weights.empty())
    throw std::runtime_error(source.model + " is " + what +
                             ", which has its own config and weights; --set and --weights are for run files");
}

SourcedModel from_hub(const ModelSource& source) {
  refuse_options(source, "a Hugging Face folder");
  auto imported = import_hub_model(source.model);
  SourcedModel model{.loaded = std::move(imported.model), .told = imported.class_name + " in " + source.model};
  model.special_ids = imported.special_ids;
  take_tokenizer(model, fs::path(source.model));
  if (!imported.defaults.empty()) {
    std::string keys;
    for (const auto& key : imported.defaults) keys += (keys.empty() ? "" : ", ") + key;
    model.notes.push_back("config.json does not say, so the class's own values are taken: " + keys);
  }
  return model;
}

SourcedModel from_checkpoint(Checkpoint checkpoint, const fs::path& path) {
  const auto config = path / "config.yaml";
  SourcedModel model{.loaded = {load_model_config(config), std::move(checkpoint.weights)},
                     .told = fmt::format("step {}, {}", checkpoint.step, path.string()),
                     .run = load_run_config(config)};
  take_tokenizer(model, model.run->data.corpus);
  return model;
}

SourcedModel from_run(const ModelSource& source) {
  refuse_options(source, "a run's folder");
  auto found = load_newest_checkpoint(fs::path(source.model) / "checkpoints");
  if (!found) throw std::runtime_error(source.model + " has no checkpoint yet");
  auto model = from_checkpoint(std::move(found->checkpoint), found->path);
  for (const auto& reason : found->refused) model.notes.push_back("passed over: " + reason);
  model.record = read_record(source.model);
  return model;
}

/// The file's own weights, unless others are named.
SourcedModel from_file(const ModelSource& source) {
  auto config = load_model_config(source.model, source.sets);
  auto weights = source.weights;
  if (weights.empty()) {
    const auto run = load_run_config(source.model, source.sets);
    if (const auto* start = std::get_if<WeightsStart>(&run.start)) weights = start->path;
  }
  if (weights.empty())
    throw std::runtime_error(source.model +
                             " names no weights (start: {kind: weights, path: ...}); --weights names a file");
  SourcedModel model{.loaded = {std::move(config), load_safetensors(weights)}, .told = weights};
  if (model.loaded.config.vocabulary == 256) model.tokenizer = byte_tokenizer_files(model.loaded.config.context);
  return model;
}

}  // namespace

void add_source_options(CLI::App& command, ModelSource& source) {
  command.add_option("--set", source.sets, "override of a run file, as in --set model.layers=2; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--weights", source.weights, "safetensors file under this zoo's parameter names, for a run file");
}

SourcedModel load_model(const ModelSource& source) {
  const fs::path path = source.model;
  if (!fs::is_directory(path)) return from_file(source);
  if (is_hub_folder(path)) return from_hub(source);
  if (fs::exists(path / "state.json")) {
    refuse_options(source, "a checkpoint's folder");
    return from_checkpoint(load_checkpoint(path), path);
  }
  if (fs::exists(path / "run.json")) return from_run(source);
  throw std::runtime_error(source.model +
                           " is no model: a folder needs run.json (a run) or config.json (Hugging Face)");
}

std::unique_ptr<Tokenizer> model_tokenizer(const SourcedModel& model) {
  if (!model.tokenizer_path.empty()) return open_tokenizer(model.tokenizer_path);
  return model.tokenizer.empty() ? nullptr : std::make_unique<ByteTokenizer>();
}

}  // namespace blockzoo
