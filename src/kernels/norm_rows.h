#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "kernels/fast.h"
#include "kernels/rows/norm_shape.h"

namespace blockzoo {

/// The rows of x [..., D]; `gain_rows` follow one another in the rows.
inline rows::NormShape norm_shape(const at::Tensor& x, int64_t gain_rows, double eps) {
  const auto width = x.size(-1);
  return {.rows = static_cast<size_t>(x.numel() / width),
          .width = static_cast<size_t>(width),
          .gain_rows = static_cast<size_t>(gain_rows),
          .eps = static_cast<float>(eps)};
}

/// Calls f(part, first row, shape of the part) for parts of the rows that depend on the shape alone, so that sums over
/// parts do not depend on the number of threads. A part begins with the first gain row.
constexpr int64_t kNormParts = 16;
constexpr size_t kNormGrain = 1 << 14;  // elements that are worth a thread

template <class F>
void in_norm_parts(const rows::NormShape& shape, const F& f) {
  const auto groups = shape.rows / shape.gain_rows;
  const auto grain = shape.rows * shape.width < kNormGrain ? kNormParts : 1;
  at::parallel_for(0, kNormParts, grain, [&](int64_t from, int64_t to) {
    for (auto part = from; part < to; ++part) {
      const auto first = groups * static_cast<size_t>(part) / kNormParts * shape.gain_rows;
      const auto last = groups * static_cast<size_t>(part + 1) / kNormParts * shape.gain_rows;
      auto own = shape;
      own.rows = last - first;
      if (own.rows > 0) f(part, first, own);
    }
  });
}

/// Memory for a number of every row that a backward reads, where one follows; its place from row `first` on, or null.
inline at::Tensor row_numbers(const rows::NormShape& shape, bool backward_follows) {
  return backward_follows ? at::empty({static_cast<int64_t>(shape.rows)}, at::kFloat) : at::Tensor();
}
inline float* from_row(const at::Tensor& numbers, size_t first) {
  return numbers.defined() ? write<float>(numbers) + first : nullptr;
}

/// A sum of a parameter's gradient for every part; undefined where there is no such parameter.
inline at::Tensor sums_of_parts(const at::Tensor& parameter) {
  return parameter.defined() ? at::zeros({kNormParts, parameter.numel()}, at::kFloat) : at::Tensor();
}
inline float* of_part(const at::Tensor& sums, int64_t part) {
  return sums.defined() ? write<float>(sums) + part * sums.size(1) : nullptr;
}
inline at::Tensor over_parts(const at::Tensor& sums, const at::Tensor& parameter) {
  return sums.defined() ? sums.sum(0).view_as(parameter) : sums;
}

/// Whether a float32 parameter stands for the last dimensions of x, the last of them aside where it has one number for
/// each row there.
inline bool parameter_fits(const at::Tensor& x, const at::Tensor& parameter, bool one_a_row = false) {
  if (!parameter.defined()) return true;
  if (parameter.scalar_type() != at::kFloat || parameter.dim() < 1 || parameter.dim() > x.dim()) return false;
  auto expected = x.sizes().slice(x.dim() - parameter.dim()).vec();
  if (one_a_row) expected.back() = 1;
  return parameter.sizes().equals(expected);
}

}  // namespace blockzoo
