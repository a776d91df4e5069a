#include "blockzoo/kernels/linear.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "blockzoo/kernels/compact_weights.h"
#include "kernels/bfloat16_linear.h"
#include "kernels/compact_matrix.h"
#include "kernels/fast.h"
#include "kernels/products.h"
#include "kernels/rows/few_rows.h"
#include "kernels/shared_packing.h"
#include "kernels/widened_products.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct FloatLinear : torch::autograd::Function<FloatLinear> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    RECORD_USER_SCOPE("blockzoo::linear");
    if (context != nullptr) {
      context->save_for_backward({x, weight});
      context->saved_data["bias"] = bias.has_value();
      if (weight.requires_grad() && !x.is_inference()) share_packing(context, x);
    }
    return float_linear(x, weight, bias.value_or(Tensor()));
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto& x = saved[0];
    const auto& weight = saved[1];
    const auto dy = gradients[0].contiguous();
    variable_list result(3);
    if (context->needs_input_grad(0)) result[0] = float_linear(dy, weight.t(), {});
    if (context->needs_input_grad(1))
      result[1] = with_packing(context, [&](Tensor& packed) {
        return weight_gradient_by(products().weight_gradients, as_matrix(dy), as_matrix(x), packed);
      });
    if (context->saved_data["bias"].toBool() && context->needs_input_grad(2)) result[2] = as_matrix(dy).sum(0);
    return result;
  }
};

constexpr int64_t kFewRows = 16;            // most rows for which reading the weights is what takes the time
constexpr int64_t kWeightsGrain = 1 << 15;  // weights that are worth a thread

bool few(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool one_type = weight.scalar_type() == x.scalar_type() &&
                        (!bias.defined() || (bias.scalar_type() == x.scalar_type() && bias.is_contiguous()));
  return !at::GradMode::is_enabled() && fast_on_cpu(x) && one_type && x.numel() > 0 && weight.numel() > 0 &&
         weight.dim() == 2 && x.size(-1) == weight.size(1) && x.numel() <= kFewRows * x.size(-1) && weight.is_cpu() &&
         weight.is_contiguous();
}

/// Outputs of a map among those of all maps of one x.
struct FewRowsMap {
  rows::FewRowsShape shape;
  const LinearMap& map;
  const CompactMatrix* compact;  // or null
  int64_t first, last;
  Tensor y;

  template <class T>
  void compute(const Tensor& x, int64_t from, int64_t to) const {
    const auto begin = std::max(from, first), end = std::min(to, last);
    if (begin >= end) return;
    const auto some = static_cast<size_t>(begin - first), behind = static_cast<size_t>(end - first);
    if (compact != nullptr) return compact->row(x, map.bias, some, behind, y);
    rows::few_rows(shape, read<T>(x), read<T>(map.weight), read<T>(map.bias), some, behind, write<T>(y));
  }
};

/// For the few tokens of a step of generation: the weights are read once, as fast as memory gives them.
std::vector<Tensor> few_rows_maps(const Tensor& input, const std::vector<LinearMap>& maps) {
  RECORD_USER_SCOPE("blockzoo::linear");
  const auto x = input.contiguous();
  const auto inputs = x.size(-1);
  auto sizes = x.sizes().vec();
  int64_t outputs = 0;
  std::vector<FewRowsMap> parts;
  std::vector<Tensor> results;
  const auto* const copies = compact_weights_in_use();
  for (const auto& map : maps) {
    sizes.back() = map.weight.size(0);
    results.push_back(at::empty(sizes, x.options()));
    const rows::FewRowsShape shape{.rows = static_cast<size_t>(x.numel() / inputs),
                                   .inputs = static_cast<size_t>(inputs),
                                   .outputs = static_cast<size_t>(sizes.back())};
    const auto* const compact = copies != nullptr && shape.rows == 1 ? copies->of(map.weight) : nullptr;
    parts.push_back({shape, map, compact, outputs, outputs + sizes.back(), results.back()});
    outputs += sizes.back();
  }
  by_element(x, [&]<class T>(T) {
    at::parallel_for(0, outputs, std::max<int64_t>(1, kWeightsGrain / inputs), [&](int64_t from, int64_t to) {
      for (const auto& part : parts) part.compute<T>(x, from, to);
    });
  });
  return results;
}

bool beside_blas(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return products().outputs != Multiplier::kBlas && fast_on_cpu(x) && x.scalar_type() == at::kFloat && x.dim() >= 2 &&
         x.numel() > 0 && weight.numel() > 0 && weight.dim() == 2 && x.size(-1) == weight.size(1) && weight.is_cpu() &&
         weight.scalar_type() == at::kFloat && (!bias.defined() || bias.scalar_type() == at::kFloat);
}

}  // namespace

Tensor linear_map(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!autocast_on_cpu() && few(x, weight, bias)) return few_rows_maps(x, {{weight, bias}}).front();
  if (bfloat16_linear_fits(x, weight, bias)) return bfloat16_linear(x, weight, bias);
  if (widened_linear_fits(x, weight, bias)) return widened_linear(x, weight, bias);
  if (autocast_on_cpu() || !beside_blas(x, weight, bias)) return at::linear(x, weight, bias);
  return applied<FloatLinear>(x, weight, given(bias));
}

std::vector<Tensor> linear_maps(const Tensor& x, const std::vector<LinearMap>& maps) {
  const auto all_few =
      std::all_of(maps.begin(), maps.end(), [&](const auto& map) { return few(x, map.weight, map.bias); });
  if (!autocast_on_cpu() && all_few) return few_rows_maps(x, maps);
  std::vector<Tensor> results;
  for (const auto& [weight, bias] : maps) results.push_back(linear_map(x, weight, bias));
  return results;
}

Tensor batched_matmul(const Tensor& a, const Tensor& b) {
  RECORD_USER_SCOPE("blockzoo::matmul");
  return widened_batched_fits(a, b) ? widened_batched_matmul(a, b) : at::bmm(a, b);
}

}  // namespace blockzoo
