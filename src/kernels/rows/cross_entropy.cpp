#include "kernels/rows/cross_entropy.h"

#include <cmath>
#include <limits>

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/cross_entropy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/element-inl.h"
#include "kernels/rows/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

template <class T>
HWY_INLINE void losses_of(size_t rows, size_t vocabulary, const T* logits, const int64_t* targets, float* losses,
                          float* log_z) {
  const auto lowest = all(-std::numeric_limits<float>::infinity());
  for (size_t row = 0; row < rows; ++row, logits += vocabulary) {
    auto most = lowest;
    walk(vocabulary, [&](size_t i, size_t count)
                         HWY_ATTR { most = hn::Max(most, first_lanes(load(logits + i, count), count, lowest)); });
    const float top = hn::GetLane(hn::MaxOfLanes(Floats(), most));
    const auto shift = all(std::isfinite(top) ? top : 0);
    auto total = all(0);
    walk(vocabulary, [&](size_t i, size_t count) HWY_ATTR {
      const auto e = exp_of_negative(hn::Sub(load(logits + i, count), shift));
      total = hn::Add(total, first_lanes(e, count, all(0)));
      __builtin_prefetch(logits + vocabulary + i, 0, 2);  // the next row, while this one waits for nothing
    });
    log_z[row] = std::isinf(top) && top > 0 ? top : hn::GetLane(shift) + std::log(sum_of(total));
    losses[row] = targets[row] < 0 ? 0 : log_z[row] - wide(logits[targets[row]]);
  }
}

template <class T>
HWY_INLINE void gradients_of(size_t rows, size_t vocabulary, const T* logits, const int64_t* targets,
                             const float* log_z, const float* dlosses, const float* dlog_z, T* dlogits) {
  for (size_t row = 0; row < rows; ++row, logits += vocabulary, dlogits += vocabulary) {
    const float dloss = targets[row] < 0 ? 0 : dlosses[row];
    const auto weight = all(dloss + dlog_z[row]), shift = all(log_z[row]);
    walk(vocabulary, [&](size_t i, size_t count) HWY_ATTR {
      store(hn::Mul(weight, exp_of_negative(hn::Sub(load(logits + i, count), shift))), dlogits + i, count);
    });
    if (dloss == 0) continue;
    const auto at = targets[row];
    const auto p = exp_of_negative(all(wide(logits[at]) - log_z[row]));
    store(hn::Sub(hn::Mul(weight, p), all(dloss)), dlogits + at, 1);
  }
}

void cross_entropy_f32(size_t rows, size_t vocabulary, const float* logits, const int64_t* targets, float* losses,
                       float* log_z) {
  losses_of(rows, vocabulary, logits, targets, losses, log_z);
}
void cross_entropy_bf16(size_t rows, size_t vocabulary, const Bf16* logits, const int64_t* targets, float* losses,
                        float* log_z) {
  losses_of(rows, vocabulary, logits, targets, losses, log_z);
}
void cross_entropy_backward_f32(size_t rows, size_t vocabulary, const float* logits, const int64_t* targets,
                                const float* log_z, const float* dlosses, const float* dlog_z, float* dlogits) {
  gradients_of(rows, vocabulary, logits, targets, log_z, dlosses, dlog_z, dlogits);
}
void cross_entropy_backward_bf16(size_t rows, size_t vocabulary, const Bf16* logits, const int64_t* targets,
                                 const float* log_z, const float* dlosses, const float* dlog_z, Bf16* dlogits) {
  gradients_of(rows, vocabulary, logits, targets, log_z, dlosses, dlog_z, dlogits);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(cross_entropy_f32);
HWY_EXPORT(cross_entropy_bf16);
HWY_EXPORT(cross_entropy_backward_f32);
HWY_EXPORT(cross_entropy_backward_bf16);

void cross_entropy(size_t rows, size_t vocabulary, const float* logits, const int64_t* targets, float* losses,
                   float* log_z) {
  HWY_DYNAMIC_DISPATCH(cross_entropy_f32)(rows, vocabulary, logits, targets, losses, log_z);
}

void cross_entropy(size_t rows, size_t vocabulary, const Bf16* logits, const int64_t* targets, float* losses,
                   float* log_z) {
  HWY_DYNAMIC_DISPATCH(cross_entropy_bf16)(rows, vocabulary, logits, targets, losses, log_z);
}

void cross_entropy_backward(size_t rows, size_t vocabulary, const float* logits, const int64_t* targets,
                            const float* log_z, const float* dlosses, const float* dlog_z, float* dlogits) {
  HWY_DYNAMIC_DISPATCH(cross_entropy_backward_f32)
  (rows, vocabulary, logits, targets, log_z, dlosses, dlog_z, dlogits);
}

void cross_entropy_backward(size_t rows, size_t vocabulary, const Bf16* logits, const int64_t* targets,
                            const float* log_z, const float* dlosses, const float* dlog_z, Bf16* dlogits) {
  HWY_DYNAMIC_DISPATCH(cross_entropy_backward_bf16)
  (rows, vocabulary, logits, targets, log_z, dlosses, dlog_z, dlogits);
}

}  // namespace blockzoo::rows
#endif
