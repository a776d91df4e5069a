#include "blockzoo/hub/weights.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <stdexcept>
#include <utility>

#include "blockzoo/core/names.h"
#include "blockzoo/hub/safetensors.h"
#include "hub/safetensors_header.h"

namespace blockzoo {

namespace {

struct Description {
  at::ScalarType type;
  std::vector<int64_t> shape;
};

std::string text(const Description& description) {
  return std::string(c10::toString(description.type)) + " " + shape_text(description.shape);
}

Description describe(const at::Tensor& tensor) { return {tensor.scalar_type(), tensor.sizes().vec()}; }

/// Bool, whole or floating point: what converts into each other without changing its meaning.
int kind(at::ScalarType type) {
  if (type == at::kBool) return 0;
  return at::isFloatingType(type) ? 2 : 1;
}

void require_fit(const std::map<std::string, at::Tensor>& needed, const std::map<std::string, Description>& given,
                 const std::string& source) {
  std::string problems;
  for (const auto& [name, tensor] : needed) {
    const auto need = describe(tensor);
    const auto found = given.find(name);
    if (found == given.end()) {
      problems += "\n  missing: " + name + " " + text(need);
    } else if (found->second.shape != need.shape) {
      problems += "\n  wrong shape: " + name + " is " + text(found->second) + ", the model needs " + text(need);
    } else if (kind(found->second.type) != kind(need.type)) {
      problems += "\n  wrong type: " + name + " is " + text(found->second) + ", the model needs " + text(need);
    }
  }
  for (const auto& [name, description] : given) {
    if (!needed.contains(name)) problems += "\n  unexpected: " + name + " " + text(description);
  }
  if (!problems.empty()) throw std::runtime_error(source + " does not fit the model; nothing was loaded:" + problems);
}

void copy_all(const std::map<std::string, at::Tensor>& from, const std::map<std::string, at::Tensor>& to) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : to) tensor.copy_(from.at(name));
}

}  // namespace

std::map<std::string, at::Tensor> weights_of(const torch::nn::Module& module) {
  std::map<std::string, at::Tensor> weights;
  for (const auto& item : module.named_parameters()) weights.emplace(item.key(), item.value().detach());
  return weights;
}

void load_weights(torch::nn::Module& module, const std::map<std::string, at::Tensor>& weights,
                  const std::string& source) {
  const auto parameters = weights_of(module);
  std::map<std::string, Description> given;
  for (const auto& [name, tensor] : weights) given.emplace(name, describe(tensor));
  require_fit(parameters, given, source);
  copy_all(weights, parameters);
}

void load_weights(torch::nn::Module& module, const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  const auto parameters = weights_of(module);
  std::map<std::string, Description> given;
  for (const auto& info : file.tensors()) given.emplace(info.name, Description{scalar_type(info.type), info.shape});
  require_fit(parameters, given, path.string());

  // Read completely before the first copy: a read that fails half way must not leave half a model.
  std::map<std::string, at::Tensor> weights;
  for (const auto& info : file.tensors()) weights.emplace(info.name, file.read(info));
  copy_all(weights, parameters);
}

FileSum save_weights(const torch::nn::Module& module, const std::filesystem::path& path,
                     std::map<std::string, std::string> metadata) {
  metadata.emplace("format", "pt");  // Hugging Face transformers refuses files without it
  const auto weights = weights_of(module);
  return save_safetensors(path, {weights.begin(), weights.end()}, metadata);
}

}  // namespace blockzoo
