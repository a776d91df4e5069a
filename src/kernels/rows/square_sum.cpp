#include "kernels/rows/square_sum.h"

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/square_sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

double square_sum_f32(const float* x, size_t count) {
  constexpr size_t kSums = 4;
  const hn::ScalableTag<double> doubles;
  const hn::Rebind<float, decltype(doubles)> floats;
  const auto lanes = hn::Lanes(doubles);
  hn::Vec<decltype(doubles)> sums[kSums];
  for (auto& sum : sums) sum = hn::Zero(doubles);
  size_t i = 0;
  for (; i + kSums * lanes <= count; i += kSums * lanes) {
    for (size_t s = 0; s < kSums; ++s) {
      const auto value = hn::PromoteTo(doubles, hn::LoadU(floats, x + i + s * lanes));
      sums[s] = hn::MulAdd(value, value, sums[s]);
    }
  }
  const auto all = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  double total = hn::GetLane(hn::SumOfLanes(doubles, all));
  for (; i < count; ++i) total += static_cast<double>(x[i]) * x[i];
  return total;
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(square_sum_f32);

double square_sum(const float* x, size_t count) { return HWY_DYNAMIC_DISPATCH(square_sum_f32)(x, count); }

}  // namespace blockzoo::rows
#endif
