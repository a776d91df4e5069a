#include "kernels/rows/compact_floats.h"

#include <bit>
#include <cstring>
#include <functional>
#include <numeric>

#include "kernels/rows/few_rows.h"
#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/compact_floats.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/abreast-inl.h"
#include "kernels/rows/row_end-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

// Instruction sets whose vectors have a place for every exponent.
#define BLOCKZOO_COMPACTS_FLOATS (HWY_TARGET == HWY_AVX3)

bool target_compacts_floats() { return BLOCKZOO_COMPACTS_FLOATS; }

#if BLOCKZOO_COMPACTS_FLOATS

using Word = hn::Vec<Words>;

constexpr size_t kLanes = hn::MaxLanes(Floats());
constexpr size_t kNumbers = 8, kWords = 7;    // vectors of numbers in a block, and of words that hold them
constexpr size_t kBlock = kNumbers * kLanes;  // numbers
constexpr size_t kBlockWords = kWords * kLanes;
constexpr size_t kExponents = sizeof(FloatGroup::exponents);

// From the highest bit a word has the sign, which exponent, 4 bits of the eighth number, and the mantissa.
constexpr int kMantissa = 23, kSpare = 4, kCode = kMantissa + kSpare;
constexpr uint32_t kSignBit = 1U << 31, kMantissaBits = (1U << kMantissa) - 1, kCodeBits = kExponents - 1;

HWY_INLINE size_t words_of_group(size_t inputs) {
  return kOutputsOfGroup * (inputs / kBlock * kBlockWords + inputs % kBlock);
}

HWY_INLINE Word exponents_at(const float* w) {
  const Words words;
  return hn::And(hn::ShiftRight<kMantissa>(hn::BitCast(words, load_whole(w))), hn::Set(words, 0xff));
}

/// Places of exponents among those of a group, by how much less than the largest they are.
struct Places {
  uint32_t largest;
  HWY_ALIGN uint32_t by_less[2 * kLanes];
};

/// Whether the exponents of the group's blocks are few enough, and near enough to each other; where they are.
HWY_INLINE bool find_places(const CompactShape& shape, const float* w, FloatGroup& group, Places& places) {
  const Words words;
  const auto each = [&](const auto& body) HWY_ATTR {
    for (size_t o = 0; o < kOutputsOfGroup; ++o)
      for (size_t i = 0; i + kBlock <= shape.inputs; i += kBlock)
        for (size_t at = 0; at < kBlock; at += kLanes) body(exponents_at(w + o * shape.inputs + i + at));
  };
  auto largest = hn::Zero(words), furthest = hn::Zero(words), present = hn::Zero(words);
  each([&](Word exponents) HWY_ATTR { largest = hn::Max(largest, exponents); });
  largest = hn::MaxOfLanes(words, largest);
  each([&](Word exponents) HWY_ATTR {
    const auto less = hn::Sub(largest, exponents);
    furthest = hn::Max(furthest, less);
    present = hn::Or(present, hn::Shl(hn::Set(words, 1), less));
  });
  if (hn::GetLane(hn::MaxOfLanes(words, furthest)) >= 2 * kLanes) return false;
  HWY_ALIGN uint32_t masks[kLanes];
  hn::Store(present, words, masks);
  const auto mask = std::accumulate(masks, masks + kLanes, uint32_t{0}, std::bit_or<>());
  if (std::popcount(mask) > static_cast<int>(kExponents)) return false;
  places.largest = hn::GetLane(largest);
  uint32_t place = 0;
  for (uint32_t less = 0; less < 2 * kLanes; ++less) {
    if ((mask >> less & 1) == 0) continue;
    places.by_less[less] = place << kCode;
    group.exponents[place++] = static_cast<uint8_t>(places.largest - less);
  }
  return true;
}

HWY_INLINE void make_block(const float* w, const Places& places, uint32_t* to) {
  const Words words;
  const auto near = hn::Load(words, places.by_less), far = hn::Load(words, places.by_less + kLanes);
  const auto largest = hn::Set(words, places.largest), lanes = hn::Set(words, kLanes);
  const auto mantissa = hn::Set(words, kMantissaBits), kept = hn::Set(words, kSignBit | kMantissaBits);
  const auto word_of = [&](size_t number) HWY_ATTR {
    const auto* from = w + number * kLanes;
    const auto less = hn::Sub(largest, exponents_at(from));
    const auto lane = hn::IndicesFromVec(words, hn::And(less, hn::Set(words, kLanes - 1)));
    const auto code =
        hn::IfThenElse(hn::Lt(less, lanes), hn::TableLookupLanes(near, lane), hn::TableLookupLanes(far, lane));
    return hn::OrAnd(code, hn::BitCast(words, load_whole(from)), kept);
  };
  const auto last = word_of(kWords);
  auto rest = hn::Or(hn::AndNot(mantissa, last), hn::ShiftLeft<kSpare>(hn::And(last, mantissa)));
  for (size_t i = 0; i < kWords; ++i) {
    const auto four = hn::ShiftLeft<kMantissa>(hn::ShiftRight<32 - kSpare>(rest));
    hn::StoreU(hn::Or(word_of(i), four), words, to + i * kLanes);
    rest = hn::ShiftLeft<kSpare>(rest);
  }
}

HWY_INLINE void make_groups(const CompactShape& shape, const float* w, size_t first, size_t last, FloatGroup* groups,
                            uint8_t* memory) {
  Places places{};
  for (size_t g = first; g < last; ++g) {
    const auto* from = w + g * kOutputsOfGroup * shape.inputs;
    groups[g].compact = find_places(shape, from, groups[g], places);
    if (!groups[g].compact) continue;
    auto* to = reinterpret_cast<uint32_t*>(memory) + g * words_of_group(shape.inputs);
    size_t i = 0;
    for (; i + kBlock <= shape.inputs; i += kBlock) {
      for (size_t o = 0; o < kOutputsOfGroup; ++o, to += kBlockWords)
        make_block(from + o * shape.inputs + i, places, to);
    }
    for (size_t o = 0; o < kOutputsOfGroup; ++o, to += shape.inputs - i)
      std::memcpy(to, from + o * shape.inputs + i, (shape.inputs - i) * sizeof(float));
  }
}

HWY_INLINE Word exponents_of(const FloatGroup& group) {
  const auto bytes = hn::LoadU(hn::Rebind<uint8_t, Words>(), group.exponents);
  return hn::ShiftLeft<kMantissa>(hn::PromoteTo(Words(), bytes));
}

/// Number from its exponent's place and from the word that has its sign and mantissa.
HWY_INLINE Vector number_of(Word exponents, Word code, Word word, Word kept) {
  const Words words;
  const auto places = hn::IndicesFromVec(words, hn::And(code, hn::Set(words, kCodeBits)));
  return hn::BitCast(Floats(), hn::OrAnd(hn::TableLookupLanes(exponents, places), word, kept));
}

/// The sum with the products of a block.
HWY_INLINE Vector add_block(const uint32_t* block, Word exponents, const float* x, Vector sum) {
  const Words words;
  const auto kept = hn::Set(words, kSignBit | kMantissaBits), four = hn::Set(words, (1U << kSpare) - 1);
  auto last = hn::Zero(words);
  HWY_UNROLL(8)
  for (size_t i = 0; i < kWords; ++i) {
    const auto word = hn::LoadU(words, block + i * kLanes);
    prefetch_near(block + i * kLanes, kNearAhead);
    sum = hn::MulAdd(load_whole(x + i * kLanes), number_of(exponents, hn::ShiftRight<kCode>(word), word, kept), sum);
    last = hn::OrAnd(hn::ShiftLeft<kSpare>(last), hn::ShiftRight<kMantissa>(word), four);
  }
  const auto signed_last =
      hn::OrAnd(hn::And(last, hn::Set(words, kMantissaBits)), hn::ShiftLeft<kSpare>(last), hn::Set(words, kSignBit));
  const auto number = number_of(exponents, hn::ShiftRight<kMantissa>(last), signed_last, kept);
  return hn::MulAdd(load_whole(x + kWords * kLanes), number, sum);
}

HWY_INLINE void put_group(const CompactShape& shape, const FloatGroup& group, const uint32_t* from, const float* x,
                          const float* bias, float* y) {
  const auto exponents = exponents_of(group);
  Vector sums[kOutputsOfGroup];
  HWY_UNROLL(4)
  for (size_t o = 0; o < kOutputsOfGroup; ++o) sums[o] = hn::Zero(Floats());
  size_t i = 0;
  for (; i + kBlock <= shape.inputs; i += kBlock) {
    HWY_UNROLL(1)  // or the compiler puts all requests to memory in front
    for (size_t o = 0; o < kOutputsOfGroup; ++o) sums[o] = add_block(from + o * kBlockWords, exponents, x + i, sums[o]);
    from += kOutputsOfGroup * kBlockWords;
  }
  const float* rest[kOutputsOfGroup];
  for (size_t o = 0; o < kOutputsOfGroup; ++o)
    rest[o] = reinterpret_cast<const float*>(from) + o * (shape.inputs % kBlock);
  for (; i + kLanes <= shape.inputs; i += kLanes) {
    const auto values = load_whole(x + i);
    HWY_UNROLL(4)
    for (size_t o = 0; o < kOutputsOfGroup; ++o) {
      sums[o] = hn::MulAdd(values, load_whole(rest[o]), sums[o]);
      prefetch_near(rest[o], kNearAhead);
      rest[o] += kLanes;
    }
  }
  float totals[kOutputsOfGroup];
  sums_of_four(sums, totals);
  put_totals<kOutputsOfGroup>(shape.inputs - i, totals, x + i, rest, bias, y);
}

HWY_INLINE void outputs_of_groups(const CompactShape& shape, const CompactFloats& w, const float* x, const float* bias,
                                  size_t first, size_t last, float* y) {
  const auto* memory = reinterpret_cast<const uint32_t*>(w.memory);
  const auto words = words_of_group(shape.inputs);
  for (size_t g = first; g < last; ++g) {
    const auto o = g * kOutputsOfGroup;
    put_group(shape, w.groups[g], memory + g * words, x, bias == nullptr ? nullptr : bias + o, y + o);
  }
}

#else

size_t words_of_group(size_t) { return 0; }
void make_groups(const CompactShape&, const float*, size_t, size_t, FloatGroup*, uint8_t*) {}
void outputs_of_groups(const CompactShape&, const CompactFloats&, const float*, const float*, size_t, size_t, float*) {}

#endif

size_t bytes_of_group(const CompactShape& shape) { return words_of_group(shape.inputs) * sizeof(float); }

void make_float_groups(const CompactShape& shape, const float* w, size_t first, size_t last, FloatGroup* groups,
                       uint8_t* memory) {
  make_groups(shape, w, first, last, groups, memory);
}

void float_groups(const CompactShape& shape, const CompactFloats& w, const float* x, const float* bias, size_t first,
                  size_t last, float* y) {
  outputs_of_groups(shape, w, x, bias, first, last, y);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(target_compacts_floats);
HWY_EXPORT(bytes_of_group);
HWY_EXPORT(make_float_groups);
HWY_EXPORT(float_groups);

bool compacts_floats() { return HWY_DYNAMIC_DISPATCH(target_compacts_floats)(); }

size_t group_bytes(const CompactShape& shape) { return HWY_DYNAMIC_DISPATCH(bytes_of_group)(shape); }

void make_compact_floats(const CompactShape& shape, const float* w, size_t first, size_t last, FloatGroup* groups,
                         uint8_t* memory) {
  HWY_DYNAMIC_DISPATCH(make_float_groups)(shape, w, first, last, groups, memory);
}

void compact_floats_row(const CompactShape& shape, const CompactFloats& w, const float* x, const float* bias,
                        size_t first, size_t last, float* y) {
  const FewRowsShape row{.rows = 1, .inputs = shape.inputs, .outputs = shape.outputs};
  const auto compact = [&](size_t o) {  // whether a whole group of them begins at o
    return o % kOutputsOfGroup == 0 && o + kOutputsOfGroup <= last && w.groups[o / kOutputsOfGroup].compact;
  };
  while (first < last) {
    auto end = first;
    if (compact(first)) {
      while (end < last && compact(end)) end += kOutputsOfGroup;
      HWY_DYNAMIC_DISPATCH(float_groups)
      (shape, w, x, bias, first / kOutputsOfGroup, end / kOutputsOfGroup, y);
    } else {
      while (end < last && !compact(end)) ++end;
      few_rows(row, x, w.matrix, bias, first, end, y);
    }
    first = end;
  }
}

}  // namespace blockzoo::rows
#endif
