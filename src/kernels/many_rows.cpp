#include "kernels/many_rows.h"

#include <ATen/ATen.h>

#include "kernels/fast.h"
#include "kernels/parallel.h"
#include "kernels/rows/many_rows.h"
#include "kernels/rows/many_rows_pairs.h"

namespace blockzoo {
namespace {

using rows::ManyRowsShape, rows::MatrixOf;

/// b^T as rows read it, for b with one stride of one.
template <class T>
MatrixOf<T> transpose_of(const Tensor& b) {
  return {.from = read<T>(b), .row = static_cast<size_t>(b.stride(1)), .column = static_cast<size_t>(b.stride(0))};
}

void multiply(const ManyRowsShape& shape, const Tensor& x, const Tensor& b, const Tensor& bias, const Tensor& y) {
  const auto packed = at::empty({static_cast<int64_t>(shape.packed_size())}, x.options());
  const auto matrix = transpose_of<float>(b);
  in_parallel(shape.panels(),
              [&](size_t first, size_t last) { rows::pack_matrix(shape, matrix, first, last, write<float>(packed)); });
  in_parallel(shape.tiles(), [&](size_t first, size_t last) {
    rows::many_rows(shape, read<float>(x), read<float>(packed), read<float>(bias), first, last, write<float>(y));
  });
}

void multiply_pairs(const ManyRowsShape& shape, const Tensor& x, const Tensor& b, const Tensor& bias, const Tensor& y) {
  using rows::Bf16, rows::Bf16Pair;
  const auto* pairs = rows::many_rows_in_pairs();
  const auto packed = at::empty({static_cast<int64_t>(pairs->packed_size(shape))}, at::kFloat);  // a pair is as large
  const auto matrix = transpose_of<Bf16>(b);
  in_parallel(pairs->panels(shape), [&](size_t first, size_t last) {
    pairs->pack_matrix(shape, matrix, first, last, write<Bf16Pair>(packed));
  });
  in_parallel(pairs->tiles(shape), [&](size_t first, size_t last) {
    pairs->many_rows(shape, read<Bf16>(x), read<Bf16Pair>(packed), read<Bf16>(bias), first, last, write<Bf16>(y));
  });
}

}  // namespace

Tensor linear_by_rows(const Tensor& a, const Tensor& b, const Tensor& bias) {
  const auto x = a.contiguous(), terms = bias.defined() ? bias.contiguous() : bias;
  const auto matrix = b.stride(0) == 1 || b.stride(1) == 1 ? b : b.contiguous();
  auto sizes = x.sizes().vec();
  sizes.back() = b.size(0);
  const auto y = at::empty(sizes, x.options());
  const ManyRowsShape shape{.rows = static_cast<size_t>(x.numel() / x.size(-1)),
                            .inputs = static_cast<size_t>(x.size(-1)),
                            .outputs = static_cast<size_t>(b.size(0))};
  (x.scalar_type() == at::kFloat ? multiply : multiply_pairs)(shape, x, matrix, terms, y);
  return y;
}

}  // namespace blockzoo
