// Products of pairs of bfloat16, and how such pairs come about. Only behind avx3_bf16-inl.h.
#pragma once

#include "kernels/rows/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

template <>
struct Arithmetic<Bf16Pair> {
  static HWY_INLINE __m512bh as_halves(Vector v) { return (__m512bh)v.raw; }
  static HWY_INLINE Vector whole(const Bf16Pair* from) {
    return hn::BitCast(Floats(), hn::LoadU(Words(), reinterpret_cast<const uint32_t*>(from)));
  }
  static HWY_INLINE Vector each(const Bf16Pair* from) {
    uint32_t bits = 0;
    std::memcpy(&bits, from, sizeof bits);
    return hn::BitCast(Floats(), hn::Set(Words(), bits));
  }
  /// sum + a.first * b.first + a.second * b.second.
  static HWY_INLINE Vector add(Vector a, Vector b, Vector sum) {
    return Vector{_mm512_dpbf16_ps(sum.raw, as_halves(a), as_halves(b))};
  }
  /// Rounded to the nearest, ties to even; NaN stays NaN.
  static HWY_INLINE void put(Vector v, Bf16* to, size_t count) {
    const auto halves = (__m256i)_mm512_cvtneps_pbh(v.raw);
    if (count == lanes()) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), halves);
    _mm256_mask_storeu_epi16(to, static_cast<__mmask16>((1U << count) - 1), halves);
  }
};

/// Rows of bfloat16 whose columns are taken two at a time.
HWY_INLINE StridedOf<Bf16Pair> pairs_of(const Bf16* rows, size_t stride) {
  return {reinterpret_cast<const Bf16Pair*>(rows), stride / 2, 1};
}

/// Parts of a product for pairs, of which `part_of` speaks one number at a time.
template <class PartOf>
HWY_INLINE auto in_pairs(const PartOf& part_of) {
  return [&part_of](size_t first, size_t count) {
    auto part = part_of(first, count);
    part.first_depth /= 2;
    part.last_depth = (part.last_depth + 1) / 2;
    return part;
  };
}

HWY_INLINE void store_pairs(hn::Vec<Words> pairs, Bf16Pair* to) {
  hn::StoreU(pairs, Words(), reinterpret_cast<uint32_t*>(to));
}

/// Numbers of two rows, pair by pair. `second` may be null for zeros.
HWY_INLINE hn::Vec<Words> paired(const Bf16* first, const Bf16* second) {
  const Words words;
  const auto bits = [&](const Bf16* row) HWY_ATTR {
    return hn::PromoteTo(words, hn::LoadU(Halves(), reinterpret_cast<const uint16_t*>(row)));
  };
  return second == nullptr ? bits(first) : hn::Or(bits(first), hn::ShiftLeft<16>(bits(second)));
}

/// Rows of bfloat16 that are `stride` apart, two by two: row p of [count / 2, width] has of each column the numbers of
/// rows 2 p and 2 p + 1, zero where there is no such row.
HWY_INLINE void pair_rows(const Bf16* from, size_t stride, size_t count, size_t width, Bf16Pair* to) {
  for (size_t r = 0; r < count; r += 2, to += width) {
    const Bf16* row = from + r * stride;
    const bool both = r + 1 < count;
    for (size_t i = 0; i < width; i += lanes()) store_pairs(paired(row + i, both ? row + stride + i : nullptr), to + i);
  }
}

/// The transpose [width / 2, across] of up to `across` rows of bfloat16 pairs, filled up with zeros.
HWY_INLINE void turn_pairs(const Bf16* from, size_t stride, size_t count, size_t width, size_t across, Bf16Pair* to) {
  const auto rows = pairs_of(from, stride);
  for (size_t j = 0; j < count; ++j) {  // a row at a time: rows that are a power of two apart push each other out
    for (size_t i = 0; i < width / 2; ++i) to[i * across + j] = rows.from[j * rows.row + i];
  }
  for (size_t i = 0; i < width / 2; ++i) std::fill(to + i * across + count, to + (i + 1) * across, Bf16Pair{});
}

/// Rows that are `stride` apart, side by side.
HWY_INLINE void gather_rows(const Bf16* from, size_t stride, size_t count, size_t width, Bf16Pair* to) {
  for (size_t r = 0; r < count; ++r) std::memcpy(to + r * width / 2, from + r * stride, width * sizeof(Bf16));
}

/// 32 numbers to the nearest bfloat16, ties to even; NaN stays NaN.
HWY_INLINE hn::Vec<Words> rounded(Vector low, Vector high) {
  return hn::Vec<Words>{(__m512i)_mm512_cvtne2ps_pbh(high.raw, low.raw)};
}

/// `count` rows of float32 of `width`, a multiple of 32, rounded.
HWY_INLINE void round_rows(const float* rows, size_t count, size_t width, Bf16Pair* to) {
  for (size_t i = 0; i < count * width; i += 2 * lanes())
    store_pairs(rounded(load_whole(rows + i), load_whole(rows + i + lanes())), to + i / 2);
}

/// The same two by two, as pair_rows() has them.
HWY_INLINE void round_paired_rows(const float* rows, size_t count, size_t width, Bf16Pair* to) {
  alignas(64) uint16_t order[32];
  for (size_t i = 0; i < 16; ++i) {
    order[2 * i] = static_cast<uint16_t>(i);
    order[2 * i + 1] = static_cast<uint16_t>(16 + i);
  }
  const auto by_turns = _mm512_load_si512(order);
  for (size_t r = 0; r < count; r += 2, to += width) {
    const float* row = rows + r * width;
    const bool both = r + 1 < count;
    for (size_t i = 0; i < width; i += lanes()) {
      const auto second = both ? load_whole(row + width + i) : hn::Zero(Floats());
      const auto apart = rounded(load_whole(row + i), second);
      store_pairs(hn::Vec<Words>{_mm512_permutexvar_epi16(by_turns, apart.raw)}, to + i);
    }
  }
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
