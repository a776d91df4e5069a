#include "blockzoo/nn/linear.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "blockzoo/kernels/linear.h"
#include "blockzoo/nn/parameter.h"

namespace blockzoo {

LinearImpl::LinearImpl(const LinearConfig& config)
    : config(config), weight(register_parameter("weight", born({config.out, config.in}, 0))) {
  if (config.bias) bias = register_parameter("bias", born({config.out}, 0));
}

Tensor LinearImpl::forward(const Tensor& x) { return linear_map(x, weight, bias); }

std::vector<Tensor> linear_maps(const Tensor& x, const std::vector<Linear>& maps) {
  std::vector<LinearMap> present;
  for (const auto& map : maps) {
    if (!map.is_empty()) present.push_back({map->weight, map->bias});
  }
  const auto made = linear_maps(x, present);
  std::vector<Tensor> results;
  for (auto next = made.begin(); const auto& map : maps) results.push_back(map.is_empty() ? Tensor() : *next++);
  return results;
}

EmbeddingImpl::EmbeddingImpl(int64_t rows, int64_t width)
    : weight(register_parameter("weight", born({rows, width}, 0))) {}

Tensor EmbeddingImpl::forward(const Tensor& ids) {
  if (ids.is_cpu() && ids.numel() > 0) {  // elsewhere reading the extremes would make the device wait
    const auto all = ids.to(at::kLong).contiguous();
    const auto* first = all.const_data_ptr<int64_t>();
    const auto [low, high] = std::minmax_element(first, first + all.numel());
    TORCH_CHECK(*low >= 0 && *high < weight.size(0), "[embedding] ids must be 0 to ", weight.size(0) - 1, ", got ",
                *low < 0 ? *low : *high);
  }
  return at::embedding(weight, ids);
}

}  // namespace blockzoo
