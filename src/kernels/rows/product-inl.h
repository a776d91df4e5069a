// C = A B or C += A B for small float32 matrices, once for every instruction set (Highway's pattern).
#if defined(BLOCKZOO_KERNELS_ROWS_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BLOCKZOO_KERNELS_ROWS_PRODUCT_INL_H_
#undef BLOCKZOO_KERNELS_ROWS_PRODUCT_INL_H_
#else
#define BLOCKZOO_KERNELS_ROWS_PRODUCT_INL_H_
#endif

#include "kernels/rows/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

/// A matrix with any strides; row r, column c at from[r * row + c * column].
struct Strided {
  const float* from;
  size_t row, column;
};

/// A matrix whose columns lie side by side.
template <class T>
struct Dense {
  T* from;
  size_t row;
};

/// kRows rows by kVectors vectors of C stay in registers while the depth runs.
template <size_t kRows, size_t kVectors>
HWY_INLINE void product_block(size_t depth, Strided a, Dense<const float> b, Dense<float> c, bool add) {
  Vector sums[kRows][kVectors];
  HWY_UNROLL(8)
  for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (size_t v = 0; v < kVectors; ++v)
      sums[r][v] = add ? load_whole(c.from + r * c.row + v * lanes()) : hn::Zero(Floats());
  }
  for (size_t p = 0; p < depth; ++p) {
    Vector row[kVectors];
    HWY_UNROLL(8)
    for (size_t v = 0; v < kVectors; ++v) row[v] = load_whole(b.from + p * b.row + v * lanes());
    HWY_UNROLL(8)
    for (size_t r = 0; r < kRows; ++r) {
      const auto factor = all(a.from[r * a.row + p * a.column]);
      HWY_UNROLL(8)
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(factor, row[v], sums[r][v]);
    }
  }
  HWY_UNROLL(8)
  for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (size_t v = 0; v < kVectors; ++v) store_whole(sums[r][v], c.from + r * c.row + v * lanes());
  }
}

template <size_t kVectors>
HWY_INLINE void product_columns(size_t rows, size_t depth, Strided a, Dense<const float> b, Dense<float> c, bool add) {
  size_t r = 0;
  const auto below = [&](size_t row) HWY_ATTR { return Strided{a.from + row * a.row, a.row, a.column}; };
  const auto target = [&](size_t row) HWY_ATTR { return Dense<float>{c.from + row * c.row, c.row}; };
  for (; r + 6 <= rows; r += 6) product_block<6, kVectors>(depth, below(r), b, target(r), add);
  if (r + 4 <= rows) {
    product_block<4, kVectors>(depth, below(r), b, target(r), add);
    r += 4;
  }
  for (; r < rows; ++r) product_block<1, kVectors>(depth, below(r), b, target(r), add);
}

/// C [rows, columns] for A [rows, depth], B [depth, columns]; columns a multiple of a vector.
HWY_INLINE void product(size_t rows, size_t columns, size_t depth, Strided a, Dense<const float> b, Dense<float> c,
                        bool add) {
  constexpr size_t kMost = HWY_TARGET == HWY_AVX3 ? 4 : 2;  // 32 registers, or 16
  size_t j = 0;
  for (; j + kMost * lanes() <= columns; j += kMost * lanes())
    product_columns<kMost>(rows, depth, a, {b.from + j, b.row}, {c.from + j, c.row}, add);
  for (; j + 2 * lanes() <= columns; j += 2 * lanes())
    product_columns<2>(rows, depth, a, {b.from + j, b.row}, {c.from + j, c.row}, add);
  for (; j < columns; j += lanes()) product_columns<1>(rows, depth, a, {b.from + j, b.row}, {c.from + j, c.row}, add);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
