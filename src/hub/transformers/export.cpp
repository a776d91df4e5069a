#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>

#include "blockzoo/core/embedded.h"
#include "blockzoo/core/hash.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/hugging_face.h"
#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/model.h"
#include "hub/transformers/rotary_rows.h"
#include "hub/transformers/translate.h"
#include "hub/transformers/weight_files.h"

namespace blockzoo {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kShortestPrompt = 32, kLongestPrompt = 512;

/// Ids for the comparison: longer than every window, as far as the context and kLongestPrompt allow.
std::vector<int64_t> prompt_for(const Stack& stack) {
  int64_t length = kShortestPrompt;
  for (const auto& layer : stack.layers)
    length = std::max(length, std::visit([](const auto& attention) { return attention.window; }, layer.attention) + 8);
  std::vector<int64_t> ids(static_cast<size_t>(std::min({length, kLongestPrompt, stack.model.context})));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int64_t>(seed_for(0, "prompt", i) % static_cast<uint64_t>(stack.model.vocabulary));
  return ids;
}

/// [tokens, V], in float32.
at::Tensor logits_of(const LoadedModel& loaded, const std::vector<int64_t>& prompt) {
  Model model(loaded.config);
  load_weights(*model, loaded.weights, "the model");
  model->eval();
  const at::NoGradGuard no_grad;
  return model(at::tensor(prompt, at::kLong).unsqueeze(0)).to(at::kFloat)[0];
}

/// The same values as after storing them with `dtype`.
Tensors rounded(const Tensors& weights, at::ScalarType dtype) {
  Tensors result;
  for (const auto& [name, tensor] : weights)
    result.emplace(name, tensor.to(at::kCPU, at::kFloat).to(dtype).to(at::kFloat));
  return result;
}

NamedTensors tensors_for(const HubChoice& choice, const Stack& stack, const Tensors& weights) {
  const auto ours = choice.pairing ? in_pairing(stack, *choice.pairing, weights) : weights;
  NamedTensors tensors;
  for (const auto& row : rows_for(weight_names(*choice.hub, choice.stack), choice.stack, ours)) {
    const auto theirs = to_theirs(row, ours);
    for (size_t i = 0; i < theirs.size(); ++i) tensors.emplace_back(row.theirs[i], theirs[i]);
  }
  return tensors;
}

void put_special_ids(ConfigMap::Json& json, const SpecialIds& ids) {
  for (const auto* key : kSpecialIds) {
    const auto found = ids.find(key);
    json[key] = found == ids.end() ? ConfigMap::Json() : ConfigMap::Json::parse(found->second);
  }
}

std::string config_text(const HubChoice& choice, const HubExport& wanted) {
  const auto dtype = wanted.dtype;
  auto config = choice.config;
  put_special_ids(config, wanted.special_ids);
  const std::string name = dtype == at::kFloat ? "float32" : dtype == at::kHalf ? "float16" : "bfloat16";
  config["dtype"] = name;
  config["torch_dtype"] = name;  // version 4 of transformers
  config["use_cache"] = choice.hub->modeling_file.empty();
  return config.dump(2) + "\n";
}

std::string generation_text(const HubClass& hub, const Stack& stack, const HubExport& wanted) {
  auto generation = ConfigMap::Json::object();
  put_special_ids(generation, wanted.special_ids);
  generation["max_length"] = stack.model.context;
  if (!hub.modeling_file.empty()) generation["use_cache"] = false;
  return generation.dump(2) + "\n";
}

std::string_view modeling_text(const HubClass& hub) {
  for (const auto& file : embedded_hub()) {
    if (file.name == hub.modeling_file) return file.text;
  }
  throw std::logic_error("the program carries no file " + std::string(hub.modeling_file));
}

void require_free(const fs::path& folder) {
  if (fs::exists(folder) && !(fs::is_directory(folder) && fs::is_empty(folder)))
    throw std::runtime_error(folder.string() + " is there already; name another folder");
}

}  // namespace

ExportReport export_hub_model(const LoadedModel& model, const HubExport& wanted) {
  require_free(wanted.folder);
  const auto stack = stack_of(model.config);
  std::string why_not;
  const auto choice = choose_class(stack, why_not);
  const auto& hub = *choice.hub;
  if (wanted.stock_only && !hub.modeling_file.empty())
    throw std::runtime_error("no class of transformers holds this model exactly: " + why_not);

  const LoadedModel source{model.config, rounded(model.weights, wanted.dtype)};
  const auto name = wanted.folder.filename().empty() ? wanted.folder.parent_path() : wanted.folder;
  const auto partial = unfinished_name(fs::absolute(name));
  fs::create_directories(partial);
  try {
    write_weight_files(partial, tensors_for(choice, stack, source.weights), wanted.dtype, wanted.shard_bytes);
    write_file(partial / "generation_config.json", generation_text(hub, stack, wanted));
    if (!hub.modeling_file.empty()) write_file(partial / hub.modeling_file, modeling_text(hub));
    for (const auto& [file, text] : wanted.files) write_file(partial / file, text);
    write_file(partial / "config.json", config_text(choice, wanted));
    if (fs::exists(name)) fs::remove(name);  // empty
    fs::rename(partial, name);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(partial, ignored);
    throw;
  }

  ExportReport report{
      .class_name = std::string(hub.name), .not_stock = why_not, .prompt = prompt_for(stack), .logits = {}};
  report.tokens = static_cast<int64_t>(report.prompt.size());
  report.logits = logits_of(source, report.prompt);
  const auto back = logits_of(import_hub_model(name).model, report.prompt);
  report.relative_error = ((back - report.logits).abs().max() / report.logits.abs().max()).item<double>();
  return report;
}

}  // namespace blockzoo
