#include "blockzoo/kernels/choice.h"

#include "blockzoo/core/names.h"
#include "kernels/products.h"
#include "kernels/rows/instructions.h"

namespace blockzoo {
namespace {

thread_local Kernels chosen = Kernels::kFast;

}  // namespace

Kernels kernels_in_use() { return chosen; }

KernelScope::KernelScope(Kernels kernels) : before_(chosen) { chosen = kernels; }

KernelScope::~KernelScope() { chosen = before_; }

std::string describe(Kernels kernels) {
  if (kernels == Kernels::kReference) return std::string(name_of(kernels));
  return std::string(name_of(kernels)) + " (" + products().words() + "; " + words_of(bfloat16_products()) +
         "; rows by " + rows::instructions() + ")";
}

}  // namespace blockzoo
