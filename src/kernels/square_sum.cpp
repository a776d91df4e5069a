#include "blockzoo/kernels/square_sum.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "kernels/fast.h"
#include "kernels/parallel.h"
#include "kernels/rows/square_sum.h"

namespace blockzoo {
namespace {

constexpr int64_t kNumbersOfPart = 1 << 16;

struct PartOfTensor {
  const float* first;
  int64_t count;
};

double sum_in_parts(const std::vector<Tensor>& tensors) {
  std::vector<PartOfTensor> parts;
  for (const auto& tensor : tensors) {
    for (int64_t first = 0; first < tensor.numel(); first += kNumbersOfPart)
      parts.push_back({read<float>(tensor) + first, std::min(kNumbersOfPart, tensor.numel() - first)});
  }
  std::vector<double> sums(parts.size());
  in_parallel(parts.size(), [&](size_t first, size_t last) {
    for (auto i = first; i < last; ++i) sums[i] = rows::square_sum(parts[i].first, static_cast<size_t>(parts[i].count));
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

bool in_parts(const Tensor& x) { return fast_on_cpu(x) && x.scalar_type() == at::kFloat && x.is_contiguous(); }

}  // namespace

double square_sum(const std::vector<Tensor>& tensors) {
  const at::NoGradGuard no_grad;
  if (tensors.empty()) return 0;
  RECORD_USER_SCOPE("blockzoo::square_sum");
  if (std::all_of(tensors.begin(), tensors.end(), in_parts)) return sum_in_parts(tensors);
  return at::stack(at::_foreach_norm(tensors, 2, at::kDouble)).square().sum().item<double>();
}

}  // namespace blockzoo
