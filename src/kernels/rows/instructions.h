#pragma once

namespace blockzoo::rows {

/// Highway's name of the instruction set that row kernels run with here: AVX3 is AVX-512. "AVX3 and BF16" where
/// multiplies_pairs(). LibTorch's environment variable ATEN_CPU_CAPABILITY (default, avx2) limits row kernels too.
const char* instructions();

/// Whether this processor has AVX-512 with products of pairs of bfloat16, and the program was built to use them.
bool multiplies_pairs();

/// Whether it has tiles of bfloat16 (AMX) besides, which oneDNN multiplies several times as fast.
bool multiplies_tiles();

}  // namespace blockzoo::rows
