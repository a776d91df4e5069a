#include "lab/limits.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <set>
#include <tuple>

#include "blockzoo/kernels/linear.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/nn/parameter.h"
#include "kernels/bfloat16_linear.h"
#include "kernels/many_rows.h"
#include "kernels/products.h"
#include "kernels/rows/instructions.h"
#include "kernels/widened_products.h"

namespace blockzoo {
namespace {

constexpr int kTries = 7;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Seconds of the quickest of several calls, after one that does not count; one call where it takes long.
double quickest(const std::function<void()>& work) {
  constexpr double kLong = 0.2;
  double least = seconds_of(work);
  if (least > kLong) return least;
  least = INFINITY;
  for (int i = 0; i < kTries; ++i) least = std::min(least, seconds_of(work));
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

constexpr auto kLibTorch = "LibTorch", kWidened = "widened", kRows = "rows";

struct ProductWays {
  std::string product, chosen;
  std::map<std::string, std::function<void()>> by_name;
};

std::vector<ProductWays> float32_products_of(int64_t rows, int64_t in, int64_t out) {
  const auto x = at::ones({rows, in}), w = at::ones({out, in}), dy = at::ones({rows, out});
  ProductWays output{"output", name_of(products().outputs), {}};
  ProductWays input_gradient{"input gradient", name_of(products().outputs), {}};
  ProductWays weight_gradient{"weight gradient", name_of(products().weight_gradients), {}};
  for (const auto multiplier : {Multiplier::kBlas, Multiplier::kOnednn, Multiplier::kRows}) {
    const auto name = name_of(multiplier);
    output.by_name[name] = [=] { linear_by(multiplier, x, w, {}); };
    input_gradient.by_name[name] = [=] { linear_by(multiplier, dy, w.t(), {}); };
    weight_gradient.by_name[name] = [=] {
      Tensor packed;
      weight_gradient_by(multiplier, dy, x, packed);
    };
  }
  return {output, input_gradient, weight_gradient};
}

std::vector<ProductWays> bfloat16_products_of(int64_t rows, int64_t in, int64_t out) {
  const auto half = [](at::IntArrayRef sizes) { return at::ones(sizes, at::kBFloat16); };
  const auto x = half({rows, in}), w = half({out, in}), dy = half({rows, out});
  const auto by = bfloat16_products();
  const std::string by_libtorch = by == Bfloat16Products::kWidened ? kWidened : kLibTorch;
  const auto usual = by == Bfloat16Products::kRows ? kRows : by_libtorch;
  std::vector<ProductWays> all{
      {"output", usual, {{kLibTorch, [=] { at::linear(x, w); }}, {kWidened, [=] { widened_linear(x, w, {}); }}}},
      {"input gradient",
       usual,
       {{kLibTorch, [=] { at::mm(dy, w); }}, {kWidened, [=] { widened_input_gradient(dy, w); }}}},
      {"weight gradient",
       by == Bfloat16Products::kPairs ? kRows : usual,
       {{kLibTorch, [=] { at::mm(dy.t(), x).to(at::kFloat); }}, {kWidened, [=] {
                                                                   Tensor packed;
                                                                   widened_weight_gradient(dy, x, packed);
                                                                 }}}}};
  if (!rows::multiplies_pairs()) return all;
  all[0].by_name[kRows] = [=] { linear_by_rows(x, w, {}); };
  all[1].by_name[kRows] = [=] { linear_by_rows(dy, w.t(), {}); };
  all[2].by_name[kRows] = [=] {
    Tensor packed;
    weight_gradient_in_pairs(dy, x, packed);
  };
  return all;
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

std::vector<std::string> multipliers_of(Precision precision) {
  if (precision == Precision::kBfloat16) return {kLibTorch, kWidened, kRows};
  return {name_of(Multiplier::kBlas), name_of(Multiplier::kOnednn), name_of(Multiplier::kRows)};
}

std::vector<ProductSpeed> compare_libraries(const RunConfig& config) {
  const bool half = config.train.precision == Precision::kBfloat16;
  std::vector<ProductSpeed> speeds;
  if (!half && !onednn_is_there()) return speeds;
  const at::NoGradGuard no_grad;
  const auto rows = config.train.batch / config.train.accumulation * config.model.context;
  for (const auto& [in, out] : matrices_of(config.model)) {
    const double flops = 2.0 * static_cast<double>(rows) * static_cast<double>(in) * static_cast<double>(out);
    for (const auto& [product, chosen, ways] :
         half ? bfloat16_products_of(rows, in, out) : float32_products_of(rows, in, out)) {
      auto& speed = speeds.emplace_back(ProductSpeed{rows, in, out, product, chosen, {}});
      for (const auto& [name, work] : ways) speed.flops_per_s[name] = flops / quickest(work);
    }
  }
  return speeds;
}

}  // namespace blockzoo
