#include "blockzoo/nn/init.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

#include "blockzoo/core/hash.h"
#include "blockzoo/nn/linear.h"

namespace blockzoo {
namespace {

struct Deviation {
  double fan_in;
  double fan_out;
  double operator()(const NormalInit& init) const { return init.std; }
  double operator()(const FanInInit& init) const { return init.gain / std::sqrt(fan_in); }
  double operator()(const GlorotInit& init) const { return init.gain * std::sqrt(2 / (fan_in + fan_out)); }
};

/// N(0, 1), or the same cut at +-sigmas by the inverse of its distribution.
Tensor standard_normal(at::IntArrayRef shape, double sigmas, uint64_t seed) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  if (sigmas == 0) return at::empty(shape, at::kFloat).normal_(0, 1, generator);
  const double edge = std::erf(sigmas / std::sqrt(2.0));
  const auto u = at::empty(shape, at::kDouble).uniform_(-edge, edge, generator);
  return (at::erfinv(u) * std::sqrt(2.0)).to(at::kFloat);
}

template <class Init>
void draw(Tensor& parameter, const Init& init, double factor, uint64_t seed) {
  const auto fan = [&](int64_t dim) { return static_cast<double>(parameter.size(dim)); };
  const double std = std::visit(Deviation{fan(1), fan(0)}, init);
  const double sigmas = std::visit([](const auto& config) { return config.cut_sigmas; }, init);
  parameter.copy_(standard_normal(parameter.sizes(), sigmas, seed) * (std * factor));
}

}  // namespace

void initialise(torch::nn::Module& model, const InitConfig& init, int64_t layers, uint64_t seed) {
  const at::NoGradGuard no_grad;
  const double depth_factor = init.depth_scaled_outputs ? 1 / std::sqrt(2.0 * static_cast<double>(layers)) : 1;
  for (const auto& item : model.named_modules()) {
    const auto own_seed = seed_for(seed, item.key() + ".weight");
    if (auto* linear = item.value()->as<LinearImpl>()) {
      const auto role = linear->config.role;
      draw(linear->weight, role == LinearRole::kHead ? init.head : init.matrices,
           role == LinearRole::kResidualOutput ? depth_factor : 1, own_seed);
    } else if (auto* table = item.value()->as<EmbeddingImpl>()) {
      draw(table->weight, init.embeddings, 1, own_seed);
    }
  }
}

}  // namespace blockzoo
