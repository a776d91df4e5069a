#include "blockzoo/train/optimizer.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <cmath>

#include "blockzoo/kernels/square_sum.h"
#include "blockzoo/nn/linear.h"
#include "blockzoo/nn/norm/base.h"

namespace blockzoo {

DecayGroups decay_groups(const torch::nn::Module& model, const AdamwConfig& config) {
  std::map<std::string, bool> decays;
  for (const auto& module : model.named_modules()) {
    const bool norm = dynamic_cast<const NormImpl*>(module.value().get()) != nullptr;
    const bool table = dynamic_cast<const EmbeddingImpl*>(module.value().get()) != nullptr;
    for (const auto& own : module.value()->named_parameters(/*recurse=*/false)) {
      const bool bias = own.key().ends_with("bias");
      const bool gain = norm || (own.value().dim() == 1 && !bias);  // a layer's factor is one too
      const auto name = module.key().empty() ? own.key() : module.key() + "." + own.key();
      decays[name] = gain ? config.decay_norms : table ? config.decay_embeddings : bias ? config.decay_biases : true;
    }
  }
  DecayGroups groups;
  for (const auto& parameter : model.named_parameters()) {
    auto& names = decays.at(parameter.key()) && config.weight_decay > 0 ? groups.decayed : groups.kept;
    names.push_back(parameter.key());
  }
  return groups;
}

double clip_divisor(double norm, double limit) { return limit > 0 && norm > limit ? norm / limit : 1; }

Adamw::Adamw(const AdamwConfig& config, torch::nn::Module& model) : config_(config) {
  const auto names = decay_groups(model, config);
  const auto parameters = model.named_parameters();
  const auto add_group = [&](double weight_decay, const std::vector<std::string>& members) {
    Group group{.weight_decay = weight_decay, .names = members};
    for (const auto& name : members) {
      const auto& parameter = parameters[name];
      group.parameters.push_back(parameter);
      group.means.push_back(at::zeros_like(parameter, at::MemoryFormat::Preserve).detach());
      group.squares.push_back(at::zeros_like(parameter, at::MemoryFormat::Preserve).detach());
      group.steps.push_back(at::zeros({}, parameter.options().dtype(at::kFloat)).detach());
    }
    if (!members.empty()) groups_.push_back(std::move(group));
  };
  add_group(config.weight_decay, names.decayed);
  add_group(0, names.kept);
}

std::vector<Tensor> Adamw::gradients(const Group& group) const {
  std::vector<Tensor> all;
  for (size_t i = 0; i < group.parameters.size(); ++i) {
    auto gradient = group.parameters[i].grad();
    TORCH_CHECK(gradient.defined(), "[adamw] parameter ", group.names[i], " has no gradient");
    all.push_back(gradient.contiguous());
  }
  return all;
}

double Adamw::gradient_norm() const {
  const at::NoGradGuard no_grad;
  std::vector<Tensor> all;
  for (const auto& group : groups_) {
    for (auto& gradient : gradients(group)) all.push_back(std::move(gradient));
  }
  return std::sqrt(square_sum(all));
}

void Adamw::step(double factor, double divisor) {
  const at::NoGradGuard no_grad;
  for (auto& group : groups_) {
    at::_foreach_add_(group.steps, 1);
    const auto scale = divisor == 1 ? std::nullopt : std::make_optional(at::full_like(group.steps.front(), divisor));
    at::_fused_adamw_(group.parameters, gradients(group), group.means, group.squares, /*max_exp_avg_sqs=*/{},
                      group.steps, config_.lr * factor, config_.beta1, config_.beta2, group.weight_decay, config_.eps,
                      /*amsgrad=*/false, /*maximize=*/false, scale);
  }
}

void Adamw::zero_grad() {
  for (auto& group : groups_) {
    for (auto& parameter : group.parameters) parameter.mutable_grad().reset();
  }
}

std::map<std::string, Tensor> Adamw::state() const {
  std::map<std::string, Tensor> all;
  for (const auto& group : groups_) {
    for (size_t i = 0; i < group.names.size(); ++i) {
      all[group.names[i] + ".mean"] = group.means[i];
      all[group.names[i] + ".square"] = group.squares[i];
      all[group.names[i] + ".step"] = group.steps[i];
    }
  }
  return all;
}

void Adamw::load_state(const std::map<std::string, Tensor>& state) {
  const auto own = this->state();
  std::string problems;
  for (const auto& [name, tensor] : own) {
    const auto given = state.find(name);
    if (given == state.end())
      problems += "\n  missing: " + name;
    else if (given->second.sizes() != tensor.sizes())
      problems += "\n  wrong shape: " + name;
  }
  for (const auto& [name, tensor] : state) {
    if (!own.count(name)) problems += "\n  unexpected: " + name;
  }
  if (!problems.empty()) throw std::runtime_error("optimizer state does not fit the model:" + problems);
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : own) Tensor(tensor).copy_(state.at(name));
}

}  // namespace blockzoo
