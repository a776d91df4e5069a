#include "blockzoo/kernels/largest_outputs.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "blockzoo/kernels/linear.h"
#include "kernels/fast.h"
#include "kernels/rows/few_rows.h"
#include "kernels/rows/screen.h"

namespace blockzoo {
namespace {

constexpr int64_t kWorthScreening = 1 << 20;  // weights below which reading them all costs little
constexpr int64_t kScreenGrain = 1 << 16;     // numbers that are worth a thread
constexpr int64_t kFewOfAll = 16;             // where more than one output in so many is left, all are computed

rows::ScreenShape screen_shape(const Tensor& weight) {
  return {.rows = static_cast<size_t>(weight.size(0)), .inputs = static_cast<size_t>(weight.size(1))};
}

int64_t rows_grain(const Tensor& weight) { return std::max<int64_t>(1, kScreenGrain / weight.size(1)); }

/// By how much more than their bounds two outputs must be apart so that rounding cannot make them equal, as a share of
/// the larger: twice the distance of numbers of y's type, and as much for adding the bias.
float rounding_share(const Tensor& y) { return y.scalar_type() == at::kBFloat16 ? 0x1p-6F : 0x1p-20F; }

/// Outputs that may be `bar` or more, or whose bounds are no numbers.
std::vector<int64_t> at_least(const std::vector<float>& estimates, const float* errors, float norm, float bar) {
  constexpr size_t kBlock = 64;
  std::vector<int64_t> left;
  const auto below = [&](size_t v) { return estimates[v] + errors[v] * norm < bar; };
  for (size_t first = 0; first < estimates.size(); first += kBlock) {
    const auto last = std::min(first + kBlock, estimates.size());
    bool all_below = true;  // without a branch, so that the compiler takes many at once
    for (size_t v = first; v < last; ++v) all_below &= below(v);
    for (size_t v = first; v < last && !all_below; ++v) {
      if (!below(v)) left.push_back(static_cast<int64_t>(v));
    }
  }
  return left;
}

}  // namespace

bool LargestOutputs::fits(const Tensor& weight, const Tensor& bias) {
  return fast_on_cpu(weight) && !autocast_on_cpu() && weight.dim() == 2 && weight.is_contiguous() &&
         weight.numel() >= kWorthScreening &&
         (!bias.defined() || (bias.scalar_type() == weight.scalar_type() && bias.is_contiguous()));
}

LargestOutputs::LargestOutputs(const Tensor& weight, const Tensor& bias) : weight_(weight), bias_(bias) {
  const auto shape = screen_shape(weight);
  numbers_ = at::empty({weight.size(0), static_cast<int64_t>(shape.stride())}, at::kChar);
  factors_ = at::empty({weight.size(0)}, at::kFloat);
  errors_ = at::empty({weight.size(0)}, at::kFloat);
  if (bias.defined()) float_bias_ = bias.to(at::kFloat);
  by_element(weight, [&]<class T>(T) {
    at::parallel_for(0, weight.size(0), rows_grain(weight), [&](int64_t first, int64_t last) {
      rows::make_screen(shape, read<T>(weight), static_cast<size_t>(first), static_cast<size_t>(last),
                        write<int8_t>(numbers_), write<float>(factors_), write<float>(errors_));
    });
  });
}

LargestOutputs::Some LargestOutputs::all(const Tensor& x) const {
  std::vector<int64_t> numbers(static_cast<size_t>(weight_.size(0)));
  std::iota(numbers.begin(), numbers.end(), 0);
  return {std::move(numbers), linear_map(x, weight_, bias_).view(-1)};
}

LargestOutputs::Some LargestOutputs::operator()(const Tensor& input) const {
  const auto shape = screen_shape(weight_);
  TORCH_CHECK(input.numel() == weight_.size(1) && input.scalar_type() == weight_.scalar_type(),
              "[largest_outputs] x must be one vector of ", weight_.size(1), ", of W's type, got x ", input.sizes());
  const auto x = input.contiguous();
  std::vector<float> values(shape.stride());
  double squares = 0;
  by_element(x, [&]<class T>(T) {
    for (size_t i = 0; i < shape.inputs; ++i) {
      values[i] = rows::wide(read<T>(x)[i]);
      squares += static_cast<double>(values[i]) * values[i];
    }
  });
  const auto norm = static_cast<float>(std::sqrt(squares));
  if (!std::isfinite(norm) || norm == 0) return all(x);

  const rows::Screen screen{.numbers = read<int8_t>(numbers_),
                            .factors = read<float>(factors_),
                            .errors = read<float>(errors_),
                            .bias = read<float>(float_bias_)};
  std::vector<float> estimates(shape.rows);
  const auto least = at::parallel_reduce(
      int64_t{0}, weight_.size(0), rows_grain(weight_), -INFINITY,
      [&](int64_t first, int64_t last, float) {
        return rows::estimate(shape, screen, values.data(), norm, static_cast<size_t>(first), static_cast<size_t>(last),
                              estimates.data());
      },
      [](float a, float b) { return std::max(a, b); });
  auto left = at_least(estimates, screen.errors, norm, least - rounding_share(x) * std::abs(least));
  if (left.size() > shape.rows / kFewOfAll) return all(x);

  auto outputs = at::empty({std::ssize(left)}, x.options());
  bool finite = true;
  by_element(x, [&]<class T>(T) {
    const auto* const bias = read<T>(bias_);
    const rows::FewRowsShape one{.rows = 1, .inputs = shape.inputs, .outputs = 1};
    for (size_t i = 0; i < left.size(); ++i) {
      const auto v = static_cast<size_t>(left[i]);
      auto* const value = write<T>(outputs) + i;
      rows::few_rows(one, read<T>(x), read<T>(weight_) + v * shape.inputs, bias == nullptr ? bias : bias + v, 0, 1,
                     value);
      finite &= std::isfinite(rows::wide(*value));
    }
  });
  if (!finite) return all(x);
  return {std::move(left), std::move(outputs)};
}

int64_t LargestOutputs::saved_bytes() const {
  auto saved = static_cast<int64_t>(weight_.nbytes());
  for (const auto& part : {numbers_, factors_, errors_, float_bias_})
    saved -= part.defined() ? static_cast<int64_t>(part.nbytes()) : 0;
  return saved;
}

}  // namespace blockzoo
