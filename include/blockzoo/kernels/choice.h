#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "blockzoo/core/names.h"

namespace blockzoo {

/// How operators are computed on the CPU. Both say the same formulas; results differ in their last bits.
enum class Kernels {
  kFast,       // fused, with the instructions and the matrix library that suit this processor
  kReference,  // the formulas in LibTorch's own operators
};

constexpr auto names(Kernels) {
  using enum Kernels;
  return std::to_array<std::pair<Kernels, std::string_view>>({{kFast, "fast"}, {kReference, "reference"}});
}

constexpr ValueNote about(Kernels kernels) {
  return {kernels == Kernels::kFast ? "fused operators, and the matrix library that suits the processor"
                                    : "the formulas in LibTorch's own operators",
          ""};
}

/// What this thread's operators are computed with: fast unless a KernelScope says otherwise.
Kernels kernels_in_use();

/// That choice while it lives; what was set before comes back. An operator's backward follows its forward.
class KernelScope {
 public:
  explicit KernelScope(Kernels kernels);
  ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

 private:
  const Kernels before_;
};

/// What the choice means on this machine, for records: "fast (products by oneDNN, their weight gradients by MKL; rows
/// by AVX3)". It depends on processor and LibTorch alone, so that a run gives the same bits whenever it is repeated.
std::string describe(Kernels kernels);

}  // namespace blockzoo
