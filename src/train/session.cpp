#include "blockzoo/train/session.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "blockzoo/core/hash.h"
#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/eval_scope.h"

namespace blockzoo {
namespace {

Model build(const RunConfig& config, c10::Device device) {
  Model model(config.model);
  if (const auto* weights = std::get_if<WeightsStart>(&config.start)) {
    load_weights(*model, std::filesystem::path(weights->path));
  } else {
    model->init_parameters(static_cast<uint64_t>(config.seed));
  }
  model->to(device);
  return model;
}

/// "blocks.3" for blocks.3.ffn.up.weight, "head" for head.weight.
std::string layer_of(const std::string& parameter) {
  const auto first = parameter.find('.');
  if (!parameter.starts_with("blocks.")) return parameter.substr(0, first);
  return parameter.substr(0, parameter.find('.', first + 1));
}

}  // namespace

std::optional<double> EvalResult::bits_per_byte_of(const std::optional<double>& part) const {
  if (!part || !bits_per_byte) return std::nullopt;
  return *part * *bits_per_byte / loss;
}

c10::Device pick_device(DeviceChoice choice) {
  const bool cuda = at::hasCUDA();
  if (choice == DeviceChoice::kCuda && !cuda)
    throw std::runtime_error(
        "train.device: cuda is asked for, but this LibTorch sees no CUDA device; allowed: auto, cpu");
  return choice == DeviceChoice::kCpu || !cuda ? at::kCPU : at::kCUDA;
}

Session::Session(const RunConfig& config)
    : config_(config),
      device_(pick_device(config.train.device)),
      corpus_(open_corpus(config.data.corpus)),
      batches_(corpus_.train, {.windows = config.train.batch, .context = config.model.context},
               static_cast<uint64_t>(config.data.seed)),
      validation_(corpus_.validation, config.model.context, config.data.validation_windows),
      bytes_per_token_(validation_.bytes_per_token()),
      model_(build(config, device_)),
      optimizer_(std::get<AdamwConfig>(config.train.optimizer), *model_) {
  if (!bytes_per_token_) bytes_per_token_ = corpus_.bytes_per_token;
  model_->train();
}

Session::Sums Session::accumulate_gradients(int64_t step) {
  const auto& train = config_.train;
  const KernelScope kernels(train.kernels);
  const auto part = train.batch / train.accumulation;
  const bool with_z = train.loss.z_loss > 0;
  at::manual_seed(seed_for(static_cast<uint64_t>(config_.seed), "dropout", static_cast<uint64_t>(step)));
  optimizer_.zero_grad();
  std::vector<Batch> parts;
  Sums sums;
  for (int64_t i = 0; i < train.accumulation; ++i) {
    parts.push_back(batches_.slice(step, i * part, part));
    batches_hash_ += parts.back().hash;
    sums.tokens += (parts.back().targets != kIgnored).sum().item<int64_t>();
  }
  for (const auto& batch : parts) {
    LossSums losses;
    {
      const AutocastScope autocast(train.precision, device_);
      losses = loss_sums(model_(batch.inputs.to(device_)), batch.targets.to(device_), with_z);
    }
    batch_loss(losses, train.loss.z_loss, sums.tokens).backward();
    sums.cross_entropy += losses.cross_entropy.item<double>();
    if (with_z) sums.z += losses.z.item<double>();
  }
  return sums;
}

StepResult Session::advance(bool by_layer) {
  const auto& train = config_.train;
  const KernelScope kernels(train.kernels);
  const auto sums = accumulate_gradients(step_);
  tokens_seen_ += sums.tokens;
  const auto tokens = static_cast<double>(std::max<int64_t>(sums.tokens, 1));
  const double factor = rate_factor_now();
  StepResult result{.step = step_ + 1,
                    .loss = sums.cross_entropy / tokens,
                    .z = sums.z / tokens,
                    .lr = std::get<AdamwConfig>(train.optimizer).lr * factor};
  if (by_layer) result.gradient_norms = gradient_norms();
  result.gradient_norm = optimizer_.gradient_norm();
  result.finite = std::isfinite(result.loss) && std::isfinite(result.gradient_norm);
  if (!result.finite) return result;
  optimizer_.step(factor, clip_divisor(result.gradient_norm, train.clip));
  ++step_;
  return result;
}

EvalResult Session::evaluate() {
  const at::NoGradGuard no_grad;
  const EvalScope eval(*model_);
  const KernelScope kernels(config_.train.kernels);
  double sum = 0, marked_sum = 0;
  std::vector<double> window_losses;
  int64_t tokens = 0, marked_tokens = 0;
  const auto part = config_.train.batch / config_.train.accumulation;
  for (int64_t first = 0; first < validation_.size(); first += part) {
    const AutocastScope autocast(config_.train.precision, device_);
    const auto batch = validation_.read(first, part);
    const auto losses =
        loss_sums(model_(batch.inputs.to(device_)), batch.targets.to(device_), false).token_losses.to(at::kDouble);
    const auto of_windows = losses.mean(1).cpu();
    window_losses.insert(window_losses.end(), of_windows.const_data_ptr<double>(),
                         of_windows.const_data_ptr<double>() + of_windows.numel());
    sum += losses.sum().item<double>();
    tokens += losses.numel();
    if (!batch.marked.defined()) continue;
    marked_sum += losses.masked_select(batch.marked.to(device_)).sum().item<double>();
    marked_tokens += batch.marked.sum().item<int64_t>();
  }
  EvalResult result{.loss = sum / static_cast<double>(tokens), .window_losses = std::move(window_losses)};
  if (bytes_per_token_) result.bits_per_byte = result.loss / std::log(2.0) / *bytes_per_token_;
  if (marked_tokens > 0) {
    result.repeated_names = marked_sum / static_cast<double>(marked_tokens);
    result.elsewhere = (sum - marked_sum) / static_cast<double>(std::max<int64_t>(tokens - marked_tokens, 1));
  }
  return result;
}

std::map<std::string, double> Session::first_gradient_norms() {
  const auto hash_before = batches_hash_;
  accumulate_gradients(0);
  batches_hash_ = hash_before;
  return gradient_norms();
}

double Session::rate_factor_now() const {
  const auto& train = config_.train;
  return rate_factor(train.schedule, std::min(step_, train.steps - 1), train.steps);
}

NextUpdate Session::next_update() {
  const at::NoGradGuard no_grad;
  {
    const at::AutoGradMode with_grad(true);
    const auto hash_before = batches_hash_;
    accumulate_gradients(step_);
    batches_hash_ = hash_before;
  }
  NextUpdate result{.gradient_norms = gradient_norms()};
  result.gradient_norm = optimizer_.gradient_norm();
  const auto parameters = model_->named_parameters();
  const auto state = optimizer_.state();
  std::map<std::string, Tensor> weights_before, state_before;
  for (const auto& parameter : parameters) weights_before[parameter.key()] = parameter.value().clone();
  for (const auto& [name, tensor] : state) state_before[name] = tensor.clone();
  optimizer_.step(rate_factor_now(), clip_divisor(result.gradient_norm, config_.train.clip));
  std::map<std::string, double> squares, changes;
  const auto square = [](const Tensor& x) { return x.to(at::kDouble).square().sum().item<double>(); };
  for (const auto& parameter : parameters) {
    const auto& before = weights_before[parameter.key()];
    squares[layer_of(parameter.key())] += square(before);
    changes[layer_of(parameter.key())] += square(parameter.value().to(at::kDouble) - before);
    Tensor(parameter.value()).copy_(before);
  }
  for (const auto& [name, tensor] : state) Tensor(tensor).copy_(state_before[name]);
  for (const auto& [layer, change] : changes) result.update_ratios[layer] = std::sqrt(change / squares[layer]);
  return result;
}

std::map<std::string, double> Session::gradient_norms() const {
  std::map<std::string, double> norms;
  for (const auto& parameter : model_->named_parameters())
    norms[layer_of(parameter.key())] += parameter.value().grad().to(at::kDouble).square().sum().item<double>();
  for (auto& [layer, value] : norms) value = std::sqrt(value);
  return norms;
}

}  // namespace blockzoo
