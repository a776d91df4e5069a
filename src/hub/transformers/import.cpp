#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>

#include "blockzoo/hub/hugging_face.h"
#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/nn/parameter.h"
#include "hub/safetensors_header.h"
#include "hub/transformers/translate.h"
#include "hub/transformers/weight_files.h"

namespace blockzoo {
namespace {

namespace fs = std::filesystem;

/// The model's parameters without memory: names and shapes.
Tensors shapes_of(const ModelConfig& config) {
  const BornOn meta(at::kMeta);
  return weights_of(*Model(config));
}

/// The class's name of a tensor of the file, empty for one that holds nothing learned.
std::string class_name_of(const HubClass& hub, const std::string& name, bool headless) {
  for (const auto& end : hub.buffers) {
    if (name.ends_with(end)) return "";
  }
  for (const auto& [other, meant] : hub.other_names) {
    if (name == other) return meant;
  }
  return headless && name != hub.head ? std::string(hub.prefix) + name : name;
}

/// The tensors of a folder under the class's names.
class HubWeights {
 public:
  HubWeights(const HubClass& hub, const fs::path& folder) : files_(folder) {
    const auto& tensors = files_.tensors();
    const bool headless = std::none_of(tensors.begin(), tensors.end(),
                                       [&](const auto& entry) { return entry.first.starts_with(hub.prefix); });
    for (const auto& [name, info] : tensors) {
      const auto meant = class_name_of(hub, name, headless);
      if (meant.empty()) continue;
      if (!names_.emplace(meant, name).second)
        throw std::runtime_error(files_.source().string() + ": tensor " + quote(name) + " stands there twice, as " +
                                 quote(names_.at(meant)) + " too");
    }
  }

  std::string source() const { return files_.source().string(); }
  const std::map<std::string, std::string>& names() const { return names_; }
  const TensorInfo& info(const std::string& name) const { return files_.tensors().at(names_.at(name)); }
  at::Tensor read(const std::string& name) const { return files_.read(names_.at(name)).to(at::kFloat); }
  bool has(const std::string& name) const { return names_.contains(name); }

 private:
  WeightFiles files_;
  std::map<std::string, std::string> names_;  // of the class, to those of the files
};

/// Everything wrong with names, shapes and types, one a line.
std::string problems_of(const HubWeights& weights, const std::map<std::string, std::vector<int64_t>>& needed) {
  std::string problems;
  for (const auto& [name, shape] : needed) {
    if (!weights.has(name)) {
      problems += "\n  missing: " + name + " " + shape_text(shape);
      continue;
    }
    const auto& info = weights.info(name);
    if (info.shape != shape)
      problems +=
          "\n  wrong shape: " + name + " is " + shape_text(info.shape) + ", config.json needs " + shape_text(shape);
    if (!at::isFloatingType(scalar_type(info.type)))
      problems += "\n  wrong type: " + name + " is " + std::string(name_of(info.type)) + ", no floating-point number";
  }
  for (const auto& [name, stored] : weights.names()) {
    if (!needed.contains(name)) problems += "\n  unexpected: " + stored + " " + shape_text(weights.info(name).shape);
  }
  return problems;
}

}  // namespace

bool is_hub_folder(const fs::path& folder) { return fs::is_regular_file(folder / "config.json"); }

ImportedModel import_hub_model(const fs::path& folder) {
  const auto config_path = folder / "config.json";
  const auto found = read_hub_config(read_file(config_path), config_path.string());
  const auto& hub = *found.hub;
  const HubWeights weights(hub, folder);
  ImportedModel imported{.model = {.config = model_of(found.stack), .weights = {}},
                         .class_name = std::string(hub.name),
                         .defaults = found.defaults,
                         .special_ids = found.special_ids};
  const auto shapes = shapes_of(imported.model.config);
  const auto rows = rows_for(weight_names(hub, found.stack), found.stack, shapes);

  std::map<std::string, std::vector<int64_t>> needed;
  for (const auto& row : rows) {
    const auto theirs = to_theirs(row, shapes);
    for (size_t i = 0; i < theirs.size(); ++i) needed.emplace(row.theirs[i], theirs[i].sizes().vec());
  }
  const auto head = std::string(hub.head);
  const bool spare_head = found.stack.model.tied && weights.has(head);
  const auto table = std::find_if(rows.begin(), rows.end(), [](const auto& row) {
                       return row.ours.front() == "embedding.weight";
                     })->theirs.front();
  if (spare_head) needed.emplace(head, needed.at(table));
  if (const auto problems = problems_of(weights, needed); !problems.empty())
    throw std::runtime_error(weights.source() + " does not fit config.json; nothing was imported:" + problems);
  if (spare_head && !at::equal(weights.read(head), weights.read(table)))
    throw std::runtime_error(weights.source() + ": tie_word_embeddings is true in config.json, but " + head +
                             " is not " + table + "; nothing was imported");

  for (const auto& row : rows) {
    std::vector<at::Tensor> theirs;
    for (const auto& name : row.theirs) theirs.push_back(weights.read(name));
    const auto ours = to_ours(row, theirs, shapes);
    for (size_t i = 0; i < ours.size(); ++i)
      imported.model.weights[row.ours[i]] = ours[i].clone(at::MemoryFormat::Contiguous);
  }
  return imported;
}

}  // namespace blockzoo
