#include "kernels/rows/compact.h"

#include <algorithm>
#include <cstring>

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/compact.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/abreast-inl.h"
#include "kernels/rows/row_end-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

// Instruction sets on which it was tried.
#define BLOCKZOO_COMPACTS (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)

bool target_compacts() { return BLOCKZOO_COMPACTS; }

#if BLOCKZOO_COMPACTS

using Bytes = hn::Repartition<uint8_t, Floats>;
using HalfBytes = hn::Half<Bytes>;

constexpr size_t kBlock = hn::MaxLanes(Bytes());     // numbers: their lower bytes fill a vector
constexpr size_t kBlockBytes = kBlock + kBlock / 2;  // lower bytes, then codes: 4 bits of each half side by side
constexpr size_t kVectors = 4;                       // that the numbers of a block fill
constexpr uint8_t kMostLess = 7;                     // that an upper byte is less than the row's largest
constexpr uint8_t kNoNumber = 0x7f;                  // upper byte of infinity and NaN, without sign

template <class T>
HWY_INLINE uint8_t largest_of_row(const T* w, size_t inputs) {
  const Words words;
  const auto none = hn::Zero(words), unsigned_bits = hn::Set(words, 0x7fffffff), lower = hn::Set(words, 0xffff);
  auto most = none, least = unsigned_bits, rest = none;
  const auto whole = inputs / kBlock * kBlock;
  for (size_t i = 0; i < whole; i += lanes()) {
    const auto bits = hn::BitCast(words, load_whole(w + i)), magnitude = hn::And(bits, unsigned_bits);
    most = hn::Max(most, magnitude);
    least = hn::Min(least, magnitude);
    rest = hn::Or(rest, hn::And(bits, lower));
    if (i == 0 && !hn::AllTrue(words, hn::Eq(rest, none))) return kPlainRow;  // as most of float32
  }
  if (whole == 0 || !hn::AllTrue(words, hn::Eq(rest, none))) return kPlainRow;
  const auto top = hn::GetLane(hn::MaxOfLanes(words, most)) >> 24;
  const auto bottom = hn::GetLane(hn::MinOfLanes(words, least)) >> 24;
  return top == kNoNumber || top - bottom > kMostLess ? kPlainRow : static_cast<uint8_t>(top);
}

template <class T>
HWY_INLINE void plan_rows(const CompactShape& shape, const T* w, size_t first, size_t last, uint8_t* largest,
                          uint64_t* bytes) {
  const auto inputs = shape.inputs, compact = inputs / kBlock * kBlockBytes + inputs % kBlock * sizeof(T);
  for (size_t o = first; o < last; ++o) {
    largest[o] = largest_of_row(w + o * inputs, inputs);
    bytes[o] = largest[o] == kPlainRow ? inputs * sizeof(T) : compact;
  }
}

/// Where byte `which` of each vector's four numbers goes in 16 bytes: those of the first two vectors in turn, then
/// those of the others. An upper byte beside each lower one then gives pairs of numbers, each of another vector.
struct alignas(16) Places {
  uint8_t from[kVectors][16];  // 0xff: nothing from this vector
};
constexpr Places places_of(size_t which) {
  Places places{};
  for (size_t v = 0; v < kVectors; ++v) {
    for (auto& from : places.from[v]) from = 0xff;
    for (size_t e = 0; e < 4; ++e)
      places.from[v][v / 2 * 8 + 2 * e + v % 2] = static_cast<uint8_t>(e * sizeof(float) + which);
  }
  return places;
}

template <size_t kWhich>
HWY_INLINE hn::Vec<Bytes> bytes_of(const Vector* numbers) {
  static constexpr Places kPlaces = places_of(kWhich);
  const Bytes bytes;
  auto all = hn::Zero(bytes);
  HWY_UNROLL(4)
  for (size_t v = 0; v < kVectors; ++v) {
    const auto chosen = hn::LoadDup128(bytes, kPlaces.from[v]);
    all = hn::Or(all, hn::TableLookupBytesOr0(hn::BitCast(bytes, numbers[v]), chosen));
  }
  return all;
}

HWY_INLINE void make_block(const Vector* numbers, uint8_t largest, uint8_t* to) {
  const Bytes bytes;
  const HalfBytes half;
  hn::StoreU(bytes_of<2>(numbers), bytes, to);
  const auto upper = bytes_of<3>(numbers);
  const auto less = hn::Sub(hn::Set(bytes, largest), hn::And(upper, hn::Set(bytes, 0x7f)));
  const auto codes = hn::Or(hn::And(hn::ShiftRight<4>(upper), hn::Set(bytes, 8)), less);
  const auto pairs = hn::Or(hn::LowerHalf(half, codes), hn::ShiftLeft<4>(hn::UpperHalf(half, codes)));
  hn::StoreU(pairs, half, to + kBlock);
}

template <class T>
HWY_INLINE void make_rows(const CompactShape& shape, const T* w, size_t first, size_t last, const Compact& matrix) {
  for (size_t o = first; o < last; ++o) {
    const auto* from = w + o * shape.inputs;
    auto* to = matrix.memory + matrix.begins[o];
    size_t i = 0;
    for (; matrix.largest[o] != kPlainRow && i + kBlock <= shape.inputs; i += kBlock) {
      Vector numbers[kVectors];
      for (size_t v = 0; v < kVectors; ++v) numbers[v] = load_whole(from + i + v * lanes());
      make_block(numbers, matrix.largest[o], to);
      to += kBlockBytes;
    }
    std::memcpy(to, from + i, (shape.inputs - i) * sizeof(T));
  }
}

/// Upper bytes by their codes.
HWY_INLINE hn::Vec<Bytes> upper_bytes(uint8_t largest) {
  HWY_ALIGN static constexpr uint8_t kLess[16] = {0x00, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9,
                                                  0x80, 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x7a, 0x79};
  const Bytes bytes;
  return hn::Add(hn::LoadDup128(bytes, kLess), hn::Set(bytes, largest));
}

/// The numbers of a block.
HWY_INLINE void numbers_of(const uint8_t* block, hn::Vec<Bytes> uppers, Vector* numbers) {
  const Bytes bytes;
  const HalfBytes half;
  const Words words;
  const auto pairs = hn::LoadU(half, block + kBlock);
  const auto codes = hn::Combine(bytes, hn::ShiftRight<4>(pairs), hn::And(pairs, hn::Set(half, 0xf)));
  const auto upper = hn::TableLookupBytes(uppers, codes), lower = hn::LoadU(bytes, block);
  const auto first = hn::BitCast(words, hn::InterleaveLower(bytes, lower, upper));
  const auto second = hn::BitCast(words, hn::InterleaveUpper(bytes, lower, upper));
  const auto odd = hn::Set(words, 0xffff0000);
  numbers[0] = hn::BitCast(Floats(), hn::ShiftLeft<16>(first));
  numbers[1] = hn::BitCast(Floats(), hn::And(first, odd));
  numbers[2] = hn::BitCast(Floats(), hn::ShiftLeft<16>(second));
  numbers[3] = hn::BitCast(Floats(), hn::And(second, odd));
}

template <class T>
struct OneRow {
  const CompactShape& shape;
  const Compact& w;
  const T* x;
  const T* bias;  // or null
  T* y;
  const uint8_t* ahead;  // asked for next

  /// Asks for as many bytes as are read, so that it stays as far ahead.
  template <size_t kBytes>
  HWY_INLINE void ask() {
    if (w.near) {
      HWY_UNROLL(8)
      for (size_t byte = 0; byte < kBytes; byte += kLine) prefetch_near(ahead + byte, 0);
    } else {
      HWY_UNROLL(8)
      for (size_t byte = 0; byte < kBytes; byte += kLine) prefetch(ahead + byte, 0);
    }
    ahead += kBytes;
  }
};

/// The products of kOutputs outputs, whose rows are all compact or all plain, with the inputs that fill blocks, or
/// vectors where rows are plain. Returns the first input that is left; rows then point there.
template <bool kCompact, size_t kOutputs, class T>
HWY_INLINE size_t add_products(OneRow<T>& job, const hn::Vec<Bytes>* uppers, const uint8_t** rows, Vector* sums) {
  constexpr size_t kStep = kCompact ? kVectors : 1;
  constexpr size_t kBytes = kCompact ? kBlockBytes : hn::MaxLanes(Floats()) * sizeof(T);
  size_t i = 0;
  for (; i + kStep * lanes() <= job.shape.inputs; i += kStep * lanes()) {
    Vector values[kStep];
    HWY_UNROLL(4)
    for (size_t v = 0; v < kStep; ++v) values[v] = load_whole(job.x + i + v * lanes());
    HWY_UNROLL(4)
    for (size_t o = 0; o < kOutputs; ++o) {
      Vector numbers[kStep];
      if constexpr (kCompact)
        numbers_of(rows[o], uppers[o], numbers);
      else
        numbers[0] = load_whole(reinterpret_cast<const T*>(rows[o]));
      HWY_UNROLL(4)
      for (size_t v = 0; v < kStep; ++v) sums[o] = hn::MulAdd(values[v], numbers[v], sums[o]);
      rows[o] += kBytes;
    }
    job.template ask<kOutputs * kBytes>();
  }
  return i;
}

/// The outputs `some`. Every sum is taken in the order in which few_rows() takes it.
template <bool kCompact, size_t kOutputs, class T>
HWY_INLINE void put_outputs(OneRow<T>& job, const size_t* some) {
  constexpr size_t kSums = 4;  // they are added up four at a time
  Vector sums[kSums];
  const uint8_t* rows[kOutputs];
  hn::Vec<Bytes> uppers[kOutputs];
  T bias[kOutputs], y[kOutputs];
  for (size_t o = 0; o < kSums; ++o) sums[o] = hn::Zero(Floats());
  HWY_UNROLL(4)
  for (size_t o = 0; o < kOutputs; ++o) {
    rows[o] = job.w.memory + job.w.begins[some[o]];
    uppers[o] = upper_bytes(job.w.largest[some[o]]);
    if (job.bias != nullptr) bias[o] = job.bias[some[o]];
  }
  auto i = add_products<kCompact, kOutputs>(job, uppers, rows, sums);
  const T* rest[kOutputs];
  for (size_t o = 0; o < kOutputs; ++o) rest[o] = reinterpret_cast<const T*>(rows[o]);
  for (; i + lanes() <= job.shape.inputs; i += lanes()) {
    const auto values = load_whole(job.x + i);
    HWY_UNROLL(4)
    for (size_t o = 0; o < kOutputs; ++o) {
      sums[o] = hn::MulAdd(values, load_whole(rest[o]), sums[o]);
      rest[o] += lanes();
    }
  }
  float totals[kSums];
  sums_of_four(sums, totals);
  put_totals<kOutputs>(job.shape.inputs - i, totals, job.x + i, rest, job.bias == nullptr ? nullptr : bias, y);
  for (size_t o = 0; o < kOutputs; ++o) job.y[some[o]] = y[o];
}

/// Outputs whose rows lie alike, until there are four.
template <bool kCompact, class T>
struct Alike {
  size_t outputs[4], count = 0;

  HWY_INLINE void add(OneRow<T>& job, size_t output) {
    outputs[count++] = output;
    if (count < 4) return;
    put_outputs<kCompact, 4>(job, outputs);
    count = 0;
  }
  HWY_INLINE void end(OneRow<T>& job) const {
    for (size_t o = 0; o < count; ++o) put_outputs<kCompact, 1>(job, outputs + o);
  }
};

template <class T>
HWY_INLINE void compact_outputs(const CompactShape& shape, const Compact& w, const T* x, const T* bias, size_t first,
                                size_t last, T* y) {
  OneRow<T> job{shape, w, x, bias, y, w.memory + w.begins[first] + (w.near ? kNearAhead : kFarAhead / 2)};
  Alike<true, T> compact;
  Alike<false, T> plain;
  for (size_t o = first; o < last; ++o) w.largest[o] == kPlainRow ? plain.add(job, o) : compact.add(job, o);
  compact.end(job);
  plain.end(job);
}

#else

template <class T>
void plan_rows(const CompactShape&, const T*, size_t, size_t, uint8_t*, uint64_t*) {}
template <class T>
void make_rows(const CompactShape&, const T*, size_t, size_t, const Compact&) {}
template <class T>
void compact_outputs(const CompactShape&, const Compact&, const T*, const T*, size_t, size_t, T*) {}

#endif

void plan_compact_f32(const CompactShape& shape, const float* w, size_t first, size_t last, uint8_t* largest,
                      uint64_t* bytes) {
  plan_rows(shape, w, first, last, largest, bytes);
}
void plan_compact_bf16(const CompactShape& shape, const Bf16* w, size_t first, size_t last, uint8_t* largest,
                       uint64_t* bytes) {
  plan_rows(shape, w, first, last, largest, bytes);
}
void make_compact_f32(const CompactShape& shape, const float* w, size_t first, size_t last, const Compact& to) {
  make_rows(shape, w, first, last, to);
}
void make_compact_bf16(const CompactShape& shape, const Bf16* w, size_t first, size_t last, const Compact& to) {
  make_rows(shape, w, first, last, to);
}
void compact_row_f32(const CompactShape& shape, const Compact& w, const float* x, const float* bias, size_t first,
                     size_t last, float* y) {
  compact_outputs(shape, w, x, bias, first, last, y);
}
void compact_row_bf16(const CompactShape& shape, const Compact& w, const Bf16* x, const Bf16* bias, size_t first,
                      size_t last, Bf16* y) {
  compact_outputs(shape, w, x, bias, first, last, y);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(target_compacts);
HWY_EXPORT(plan_compact_f32);
HWY_EXPORT(plan_compact_bf16);
HWY_EXPORT(make_compact_f32);
HWY_EXPORT(make_compact_bf16);
HWY_EXPORT(compact_row_f32);
HWY_EXPORT(compact_row_bf16);

bool compacts() { return HWY_DYNAMIC_DISPATCH(target_compacts)(); }

void plan_compact(const CompactShape& shape, const float* w, size_t first, size_t last, uint8_t* largest,
                  uint64_t* bytes) {
  HWY_DYNAMIC_DISPATCH(plan_compact_f32)(shape, w, first, last, largest, bytes);
}
void plan_compact(const CompactShape& shape, const Bf16* w, size_t first, size_t last, uint8_t* largest,
                  uint64_t* bytes) {
  HWY_DYNAMIC_DISPATCH(plan_compact_bf16)(shape, w, first, last, largest, bytes);
}

void make_compact(const CompactShape& shape, const float* w, size_t first, size_t last, const Compact& to) {
  HWY_DYNAMIC_DISPATCH(make_compact_f32)(shape, w, first, last, to);
}
void make_compact(const CompactShape& shape, const Bf16* w, size_t first, size_t last, const Compact& to) {
  HWY_DYNAMIC_DISPATCH(make_compact_bf16)(shape, w, first, last, to);
}

void compact_row(const CompactShape& shape, const Compact& w, const float* x, const float* bias, size_t first,
                 size_t last, float* y) {
  HWY_DYNAMIC_DISPATCH(compact_row_f32)(shape, w, x, bias, first, last, y);
}
void compact_row(const CompactShape& shape, const Compact& w, const Bf16* x, const Bf16* bias, size_t first,
                 size_t last, Bf16* y) {
  HWY_DYNAMIC_DISPATCH(compact_row_bf16)(shape, w, x, bias, first, last, y);
}

}  // namespace blockzoo::rows
#endif
