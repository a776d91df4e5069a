#include "kernels/rows/instructions.h"

#include <cstdlib>
#include <string_view>

#include "kernels/rows/targets.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/instructions.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

const char* name_of_target() { return hwy::TargetName(HWY_TARGET); }
bool is_avx3() { return HWY_TARGET == HWY_AVX3; }

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {
namespace {

#if HWY_ARCH_X86
/// Before anything is chosen. A better instruction set has a lower bit.
bool limited() {
  const char* const given = std::getenv("ATEN_CPU_CAPABILITY");
  const std::string_view limit = given != nullptr ? given : "";
  if (limit == "avx2") hwy::DisableTargets(HWY_AVX2 - 1);
  if (limit == "default") hwy::DisableTargets(HWY_AVX2 | (HWY_AVX2 - 1));
  return !limit.empty();
}
[[maybe_unused]] const bool is_limited = limited();
#endif

}  // namespace

HWY_EXPORT(name_of_target);
HWY_EXPORT(is_avx3);

const char* instructions() { return multiplies_pairs() ? "AVX3 and BF16" : HWY_DYNAMIC_DISPATCH(name_of_target)(); }

bool multiplies_pairs() {
#if HWY_TARGETS & HWY_AVX3
  // Asking a virtual machine's processor takes longer than a small product.
  static const bool both = HWY_DYNAMIC_DISPATCH(is_avx3)() && __builtin_cpu_supports("avx512bf16") != 0;
  return both;
#else
  return false;
#endif
}

bool multiplies_tiles() {
#if defined(__x86_64__)
  constexpr unsigned kAmxBf16 = 1U << 22;  // of leaf 7
  static const bool has = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & kAmxBf16) != 0;
  }();
  return has;
#else
  return false;
#endif
}

}  // namespace blockzoo::rows
#endif
