// Instruction sets that row kernels are compiled for: the compiler's own (SSE2 on x86), AVX2 and AVX-512. Others bring
// nothing here, and each costs compile time. Included before anything else of Highway's.
#pragma once

#include <hwy/detect_targets.h>

// Rows keep vectors in arrays, which those of unknown length do not allow: SVE machines take NEON.
#ifdef HWY_AVX3_SPR  // newer Highway knows more kinds of AVX-512
#define BLOCKZOO_NEWER_TARGETS (HWY_AVX3_ZEN4 | HWY_AVX3_SPR)
#else
#define BLOCKZOO_NEWER_TARGETS 0
#endif
#define BLOCKZOO_UNUSED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | BLOCKZOO_NEWER_TARGETS)
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS BLOCKZOO_UNUSED_TARGETS
