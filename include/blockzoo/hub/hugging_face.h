#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "blockzoo/nn/model_config.h"

namespace blockzoo {

/// A model in memory: its config, and its parameters by name (docs/parameters.md).
struct LoadedModel {
  ModelConfig config;
  std::map<std::string, at::Tensor> weights;
};

/// Ids of bos, eos and pad tokens as config.json has them, in JSON: "bos_token_id" to "1" or "null".
using SpecialIds = std::map<std::string, std::string>;

/// What import_hub_model found.
struct ImportedModel {
  LoadedModel model;
  std::string class_name;             // "LlamaForCausalLM"
  std::vector<std::string> defaults;  // keys that config.json lacks, with the class's values that were taken
  SpecialIds special_ids;
};

/// Whether the folder holds a config.json.
bool is_hub_folder(const std::filesystem::path& folder);

/// Reads a folder as Hugging Face transformers writes it: config.json, and model.safetensors or its parts with their
/// index. Weights are float32 here. Names and shapes of all tensors are checked before any is read.
/// Errors: std::runtime_error that names the file and what is missing, unexpected or cannot be held; nothing is loaded
/// partly.
ImportedModel import_hub_model(const std::filesystem::path& folder);

/// The class that an export of a model takes, and why no class of transformers holds it; empty when one does.
struct ExportClass {
  std::string name;  // "LlamaForCausalLM"
  std::string not_stock;
};
ExportClass export_class(const ModelConfig& model);

/// Names of all classes that export and import know, in the order in which export tries them; ours is the last.
std::vector<std::string> hub_class_names();

/// What export_hub_model is to write.
struct HubExport {
  std::filesystem::path folder;
  at::ScalarType dtype = at::kFloat;
  int64_t shard_bytes = 5'000'000'000;       // largest size of one weight file; a larger tensor has a file of its own
  bool stock_only = false;                   // refuse models that no class of transformers holds
  std::map<std::string, std::string> files;  // more files for the folder, by name
  SpecialIds special_ids = {};               // those that are absent are null
};

/// What was written, and how its logits compare.
struct ExportReport {
  std::string class_name;
  std::string not_stock;        // why no class of transformers holds the model; empty when one does
  int64_t tokens = 0;           // of the prompt that was compared
  double relative_error = 0;    // largest difference of the logits, over their largest magnitude
  std::vector<int64_t> prompt;  // its ids
  at::Tensor logits;            // [tokens, V], before the export
};

inline constexpr double kMostRelativeError = 1e-4;

/// Writes a folder that transformers.AutoModelForCausalLM.from_pretrained loads, complete or not at all, reads it back
/// and compares logits on a prompt that is longer than every window, where the context allows it.
/// Errors: std::runtime_error: the folder is there and not empty; no class holds the model, with the nearest and what
/// it cannot hold. A large error of the logits is reported, not thrown; the folder stays.
ExportReport export_hub_model(const LoadedModel& model, const HubExport& wanted);

}  // namespace blockzoo
