// An instruction set of our own beside Highway's: AVX-512 with products of pairs of bfloat16 (AVX512_BF16), which
// Highway does not use for AVX3. For a file that Highway compiles for AVX3 first and that has something for it alone;
// included there, before everything else of Highway's kind. What comes after it lies in a namespace of its own.
#pragma once

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>
#include <immintrin.h>

namespace hwy {
namespace N_AVX3_BF16 = N_AVX3;
}  // namespace hwy

#undef HWY_NAMESPACE
#define HWY_NAMESPACE N_AVX3_BF16
#undef HWY_TARGET_STR
#define HWY_TARGET_STR HWY_TARGET_STR_AVX3 ",avx512bf16"
