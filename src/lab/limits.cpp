#include "lab/limits.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <tuple>

#include "blockzoo/kernels/linear.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/nn/parameter.h"
#include "kernels/products.h"

namespace blockzoo {
namespace {

constexpr int kTries = 7;

/// Seconds of the quickest of several calls, after one that does not count.
double quickest(const std::function<void()>& work) {
  work();
  double least = INFINITY;
  for (int i = 0; i < kTries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

/// (in, out) of every matrix that tokens are multiplied with.
std::set<std::pair<int64_t, int64_t>> matrices_of(const ModelConfig& config) {
  const BornOn meta(at::kMeta);
  std::set<std::pair<int64_t, int64_t>> shapes;
  const Model model(config);
  for (const auto& module : model->modules()) {
    if (const auto* linear = module->as<LinearImpl>()) shapes.insert({linear->config.in, linear->config.out});
  }
  return shapes;
}

}  // namespace

MachineLimits measure_limits(Precision precision) {
  const at::NoGradGuard no_grad;
  constexpr int64_t size = 1024;
  const auto type = precision == Precision::kBfloat16 ? at::kBFloat16 : at::kFloat;
  const auto x = at::ones({size, size}, type), w = at::ones({size, size}, type);
  const double product_s = quickest([&] { linear_map(x, w); });
  constexpr int64_t count = 1 << 24;
  const auto b = at::ones({count}), c = at::ones({count});
  auto a = at::ones({count});
  const double triad_s = quickest([&] { at::add_out(a, b, c, 0.5); });
  const double sums_s = quickest([&] {  // of all three in turn, so that none is left in a cache
    for (const auto& array : {a, b, c}) array.sum();
  });
  constexpr double bytes = 3.0 * count * sizeof(float);
  const double triad = bytes / triad_s, sum = bytes / sums_s;
  return {.product_flops_per_s = 2.0 * size * size * size / product_s,
          .bytes_per_s = triad,
          .bytes_read_per_s = std::max(triad, sum)};
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

std::vector<ProductSpeed> compare_libraries(const RunConfig& config) {
  std::vector<ProductSpeed> speeds;
  if (!onednn_is_there()) return speeds;
  const at::NoGradGuard no_grad;
  const auto rows = config.train.batch / config.train.accumulation * config.model.context;
  for (const auto& [in, out] : matrices_of(config.model)) {
    const auto x = at::ones({rows, in}), w = at::ones({out, in}), dy = at::ones({rows, out});
    const double flops = 2.0 * static_cast<double>(rows) * static_cast<double>(in) * static_cast<double>(out);
    const auto& choice = products();
    const auto speed_of = [&](const char* product, Multiplier chosen) -> ProductSpeed& {
      return speeds.emplace_back(ProductSpeed{rows, in, out, product, chosen});
    };
    using enum Multiplier;
    speed_of("output", choice.outputs).flops_per_s = {{kBlas, flops / quickest([&] { at::linear(x, w); })},
                                                      {kOnednn, flops / quickest([&] { onednn_linear(x, w, {}); })}};
    speed_of("input gradient", choice.outputs).flops_per_s = {
        {kBlas, flops / quickest([&] { at::mm(dy, w); })},
        {kOnednn, flops / quickest([&] { onednn_linear(dy, w.t(), {}); })}};
    auto& weights = speed_of("weight gradient", choice.weight_gradients).flops_per_s;
    for (const auto multiplier : {kBlas, kOnednn, kRows})
      weights[multiplier] = flops / quickest([&, packed = Tensor()]() mutable {
                              packed.reset();
                              weight_gradient_by(multiplier, dy, x, packed);
                            });
  }
  return speeds;
}

}  // namespace blockzoo
