#include "kernels/rows/screen.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/screen.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

using Integers = hn::RebindToSigned<Floats>;
using Bytes = hn::Rebind<int8_t, Floats>;

constexpr float kMostNumber = 127;
constexpr float kLeastLength = 1e-12F;  // of a row whose rests, squared, are no denormals

template <class T>
HWY_INLINE void make_row(const ScreenShape& shape, const T* w, int8_t* numbers, float* factor, float* error) {
  auto most = hn::Zero(Floats()), squares = hn::Zero(Floats());
  walk(shape.inputs, [&](size_t i, size_t count) HWY_ATTR {
    const auto weights = load(w + i, count);
    most = hn::Max(most, hn::Abs(weights));
    squares = hn::MulAdd(weights, weights, squares);
  });
  std::memset(numbers, 0, shape.stride());
  const auto inputs = static_cast<float>(shape.inputs);
  const float length = std::sqrt(sum_of(squares)), largest = hn::GetLane(hn::MaxOfLanes(Floats(), most));
  *factor = 0;
  if (!std::isfinite(length)) {
    *error = INFINITY;
    return;
  }
  if (length < kLeastLength) {
    *error = 2 * largest * inputs;
    return;
  }
  *factor = largest / kMostNumber;
  const auto step = all(*factor), inverse = all(1 / *factor);
  auto rest = hn::Zero(Floats());
  walk(shape.inputs, [&](size_t i, size_t count) HWY_ATTR {
    const auto weights = load(w + i, count);
    const auto within = hn::Clamp(hn::Mul(weights, inverse), all(-kMostNumber), all(kMostNumber));
    const auto whole = hn::NearestInt(within);
    const auto apart = hn::NegMulAdd(step, hn::ConvertTo(Floats(), whole), weights);
    rest = hn::MulAdd(apart, apart, rest);
    hn::StoreU(hn::DemoteTo(Bytes(), whole), Bytes(), numbers + i);
  });
  // |(w - f q) . x| <= |w - f q| |x|; each of the two float32 sums is within inputs 2^-24 |w| |x| of its own.
  *error = 1.001F * std::sqrt(sum_of(rest)) + 0x1p-22F * inputs * length;
}

template <class T>
HWY_INLINE void make_rows(const ScreenShape& shape, const T* w, size_t first, size_t last, int8_t* numbers,
                          float* factors, float* errors) {
  for (size_t v = first; v < last; ++v)
    make_row(shape, w + v * shape.inputs, numbers + v * shape.stride(), factors + v, errors + v);
}

void make_screen_f32(const ScreenShape& shape, const float* w, size_t first, size_t last, int8_t* numbers,
                     float* factors, float* errors) {
  make_rows(shape, w, first, last, numbers, factors, errors);
}
void make_screen_bf16(const ScreenShape& shape, const Bf16* w, size_t first, size_t last, int8_t* numbers,
                      float* factors, float* errors) {
  make_rows(shape, w, first, last, numbers, factors, errors);
}

/// Sums of kRows rows of numbers times x.
template <size_t kRows>
HWY_INLINE void sums_of_numbers(const ScreenShape& shape, const int8_t* numbers, const float* x, float* totals) {
  constexpr size_t kAhead = 32768;  // bytes
  constexpr size_t kSums = 4;       // they are added up four at a time
  Vector sums[kSums];
  HWY_UNROLL(4)
  for (size_t v = 0; v < kSums; ++v) sums[v] = hn::Zero(Floats());
  const size_t stride = shape.stride();
  for (size_t from = 0; from < stride; from += 64) {
    HWY_UNROLL(4)
    for (size_t v = 0; v < kRows; ++v) {
      __builtin_prefetch(numbers + from * kRows + v * 64 + kAhead, 0, 2);
    }
    for (size_t i = from; i < from + 64; i += lanes()) {
      const auto values = load_whole(x + i);
      HWY_UNROLL(4)
      for (size_t v = 0; v < kRows; ++v) {
        const auto whole = hn::PromoteTo(Integers(), hn::LoadU(Bytes(), numbers + v * stride + i));
        sums[v] = hn::MulAdd(values, hn::ConvertTo(Floats(), whole), sums[v]);
      }
    }
  }
  sums_of_four(sums, totals);
}

float estimate_rows(const ScreenShape& shape, const Screen& screen, const float* x, float norm, size_t first,
                    size_t last, float* estimates) {
  float least = -INFINITY;
  const auto finish = [&](size_t v, size_t count, const float* totals) {
    for (size_t k = 0; k < count; ++k) {
      const float bias = screen.bias == nullptr ? 0 : screen.bias[v + k];
      estimates[v + k] = screen.factors[v + k] * totals[k] + bias;
      least = std::max(least, estimates[v + k] - screen.errors[v + k] * norm);
    }
  };
  float totals[4];
  size_t v = first;
  for (; v + 4 <= last; v += 4) {
    sums_of_numbers<4>(shape, screen.numbers + v * shape.stride(), x, totals);
    finish(v, 4, totals);
  }
  for (; v < last; ++v) {
    sums_of_numbers<1>(shape, screen.numbers + v * shape.stride(), x, totals);
    finish(v, 1, totals);
  }
  return least;
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(make_screen_f32);
HWY_EXPORT(make_screen_bf16);
HWY_EXPORT(estimate_rows);

void make_screen(const ScreenShape& shape, const float* w, size_t first, size_t last, int8_t* numbers, float* factors,
                 float* errors) {
  HWY_DYNAMIC_DISPATCH(make_screen_f32)(shape, w, first, last, numbers, factors, errors);
}

void make_screen(const ScreenShape& shape, const Bf16* w, size_t first, size_t last, int8_t* numbers, float* factors,
                 float* errors) {
  HWY_DYNAMIC_DISPATCH(make_screen_bf16)(shape, w, first, last, numbers, factors, errors);
}

float estimate(const ScreenShape& shape, const Screen& screen, const float* x, float norm, size_t first, size_t last,
               float* estimates) {
  return HWY_DYNAMIC_DISPATCH(estimate_rows)(shape, screen, x, norm, first, last, estimates);
}

}  // namespace blockzoo::rows
#endif
