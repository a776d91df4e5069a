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
template <class Element>
struct StridedOf {
  const Element* from;
  size_t row, column;
};
using Strided = StridedOf<float>;

/// A matrix whose columns lie side by side.
template <class T>
struct Dense {
  T* from;
  size_t row;
};

/// What some rows of C need: columns of C, and of A's columns those that are not known to be zero.
struct Part {
  size_t first_column, last_column;
  size_t first_depth, last_depth;
};

/// How elements of A and B are loaded and multiplied.
template <class Element>
struct Arithmetic;

template <>
struct Arithmetic<float> {
  static HWY_INLINE Vector whole(const float* from) { return load_whole(from); }
  static HWY_INLINE Vector each(const float* from) { return all(*from); }
  static HWY_INLINE Vector add(Vector a, Vector b, Vector sum) { return hn::MulAdd(a, b, sum); }
};

/// kRows rows by kVectors vectors of C stay in registers while the depth runs.
template <size_t kRows, size_t kVectors, class Element = float>
HWY_INLINE void product_block(const Part& part, StridedOf<Element> a, Dense<const Element> b, Dense<float> c,
                              bool add) {
  Vector sums[kRows][kVectors];
  HWY_UNROLL(16)
  for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v)
      sums[r][v] = add ? load_whole(c.from + r * c.row + v * lanes()) : hn::Zero(Floats());
  }
  for (size_t p = part.first_depth; p < part.last_depth; ++p) {
    Vector row[kVectors];
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) row[v] = Arithmetic<Element>::whole(b.from + p * b.row + v * lanes());
    HWY_UNROLL(16)
    for (size_t r = 0; r < kRows; ++r) {
      const auto factor = Arithmetic<Element>::each(a.from + r * a.row + p * a.column);
      HWY_UNROLL(16)
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] = Arithmetic<Element>::add(factor, row[v], sums[r][v]);
    }
  }
  HWY_UNROLL(16)
  for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) store_whole(sums[r][v], c.from + r * c.row + v * lanes());
  }
}

template <size_t kRows, class Element>
HWY_INLINE void product_rows(const Part& part, StridedOf<Element> a, Dense<const Element> b, Dense<float> c, bool add) {
  constexpr size_t kMost = HWY_TARGET == HWY_AVX3 ? 4 : 2;  // 32 registers, or 16
  const auto from = [&](size_t j) HWY_ATTR { return Dense<const Element>{b.from + j, b.row}; };
  const auto to = [&](size_t j) HWY_ATTR { return Dense<float>{c.from + j, c.row}; };
  size_t j = part.first_column;
  for (; j + kMost * lanes() <= part.last_column; j += kMost * lanes())
    product_block<kRows, kMost>(part, a, from(j), to(j), add);
  for (; j + 2 * lanes() <= part.last_column; j += 2 * lanes()) product_block<kRows, 2>(part, a, from(j), to(j), add);
  for (; j < part.last_column; j += lanes()) product_block<kRows, 1>(part, a, from(j), to(j), add);
}

/// C (+)= A B with `rows` rows, of which `part_of(first, count)` says what the rows from `first` on need. Columns
/// begin and end at whole vectors.
template <class PartOf, class Element = float>
HWY_INLINE void product(size_t rows, StridedOf<Element> a, Dense<const Element> b, Dense<float> c, bool add,
                        const PartOf& part_of) {
  const auto below = [&](size_t r) HWY_ATTR { return StridedOf<Element>{a.from + r * a.row, a.row, a.column}; };
  const auto target = [&](size_t r) HWY_ATTR { return Dense<float>{c.from + r * c.row, c.row}; };
  size_t r = 0;
  for (; r + 6 <= rows; r += 6) product_rows<6>(part_of(r, 6), below(r), b, target(r), add);
  if (r + 4 <= rows) {
    product_rows<4>(part_of(r, 4), below(r), b, target(r), add);
    r += 4;
  }
  for (; r < rows; ++r) product_rows<1>(part_of(r, 1), below(r), b, target(r), add);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
