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
  static HWY_INLINE void put(Vector v, float* to, size_t count) { store(v, to, count); }
};

/// Sums of kRows rows by kVectors vectors stay in registers while the depth runs from `first` to `last`. Those of row r
/// and vector v begin as begin(r, v) and go to end(r, v, sum); beside(p) is called at each depth.
template <size_t kRows, size_t kVectors, class Element, class Begin, class Beside, class End>
HWY_INLINE void register_block(size_t first, size_t last, StridedOf<Element> a, Dense<const Element> b,
                               const Begin& begin, const Beside& beside, const End& end) {
  Vector sums[kRows][kVectors];
  HWY_UNROLL(16)
  for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) sums[r][v] = begin(r, v);
  }
  for (size_t p = first; p < last; ++p) {
    Vector row[kVectors];
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) row[v] = Arithmetic<Element>::whole(b.from + p * b.row + v * lanes());
    beside(p);
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
    for (size_t v = 0; v < kVectors; ++v) end(r, v, sums[r][v]);
  }
}

/// kRows rows by kVectors vectors of C.
template <size_t kRows, size_t kVectors, class Element = float>
HWY_INLINE void product_block(const Part& part, StridedOf<Element> a, Dense<const Element> b, Dense<float> c,
                              bool add) {
  const auto place = [&](size_t r, size_t v) HWY_ATTR { return c.from + r * c.row + v * lanes(); };
  register_block<kRows, kVectors>(
      part.first_depth, part.last_depth, a, b,
      [&](size_t r, size_t v) HWY_ATTR { return add ? load_whole(place(r, v)) : hn::Zero(Floats()); }, [](size_t) {},
      [&](size_t r, size_t v, Vector sum) HWY_ATTR { store_whole(sum, place(r, v)); });
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
