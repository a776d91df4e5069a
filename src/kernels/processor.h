#pragma once

namespace blockzoo {

/// Whether the processor calls itself "AuthenticAMD".
bool processor_is_amd();

/// Whether it is an AMD with AVX-512: Zen 4 and what came after it.
bool processor_is_avx512_amd();

/// Whether it is one that computes and loads 512 bits at once: Zen 5 and what came after it.
bool processor_is_wide_amd();

}  // namespace blockzoo
