#include "kernels/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace blockzoo {
namespace {

#if defined(__x86_64__)
/// The processor's family if AMD made it, or zero. AMD's Architecture Programmer's Manual, volume 3, appendix E.
unsigned amd_family() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool amd = __get_cpuid(0, &eax, &ebx, &ecx, &edx) != 0 && ebx == signature_AMD_ebx &&
                   ecx == signature_AMD_ecx && edx == signature_AMD_edx;
  if (!amd || __get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return 0;
  const unsigned base = eax >> 8 & 0xf, more = eax >> 20 & 0xff;
  return base == 0xf ? base + more : base;
}
#else
unsigned amd_family() { return 0; }
#endif

constexpr unsigned kZen5 = 0x1a;

/// Asked once: in a virtual machine the question leaves the machine.
unsigned family() {
  static const auto answer = amd_family();
  return answer;
}

}  // namespace

bool processor_is_amd() { return family() != 0; }

bool processor_is_avx512_amd() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx512f") != 0;
  return has && processor_is_amd();
#else
  return false;
#endif
}

bool processor_is_wide_amd() { return family() >= kZen5; }

}  // namespace blockzoo
