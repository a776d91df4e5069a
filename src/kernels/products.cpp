#include "kernels/products.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace blockzoo {
namespace {

struct Processor {
  bool amd = false;
  int family = 0;
};

Processor this_processor() {
  Processor processor;
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) return processor;
  processor.amd = ebx == signature_AMD_ebx && ecx == signature_AMD_ecx && edx == signature_AMD_edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return processor;
  const auto family = static_cast<int>(eax >> 8 & 15);
  processor.family = family == 15 ? 15 + static_cast<int>(eax >> 20 & 255) : family;
#endif
  return processor;
}

std::optional<c10::OperatorHandle> linear_of_onednn() {
  if (!at::globalContext().userEnabledMkldnn() || !at::hasMKLDNN()) return std::nullopt;
  const auto found = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
  if (!found || !found->hasKernelForDispatchKey(c10::DispatchKey::CPU)) return std::nullopt;
  const bool known = found->schema().arguments().size() == 6 && found->schema().returns().size() == 1;
  return known ? found : std::nullopt;
}

const std::optional<c10::OperatorHandle>& onednn() {
  static const auto handle = linear_of_onednn();
  return handle;
}

}  // namespace

std::string Products::words() const {
  const std::string blas = at::hasMKL() ? "MKL" : "BLAS";
  if (!outputs_by_onednn) return "products by " + blas;
  return weight_gradients_by_onednn ? "products by oneDNN" : "products by oneDNN, their weight gradients by " + blas;
}

Products products_for(bool amd, int family, bool mkl) {
  if (!mkl) return {true, true};
  return {amd, amd && family >= 26};
}

const Products& products() {
  static const auto choice = [] {
    const auto [amd, family] = this_processor();
    return onednn_is_there() ? products_for(amd, family, at::hasMKL()) : Products{};
  }();
  return choice;
}

bool onednn_is_there() { return onednn().has_value(); }

Tensor onednn_linear(const Tensor& a, const Tensor& b, const Tensor& bias) {
  torch::jit::Stack stack;
  stack.emplace_back(a);
  stack.emplace_back(b);
  stack.emplace_back(bias.defined() ? c10::IValue(bias) : c10::IValue());
  stack.emplace_back("none");
  stack.emplace_back(c10::List<std::optional<at::Scalar>>());
  stack.emplace_back("");
  onednn()->callBoxed(stack);
  return stack.front().toTensor();
}

Tensor onednn_weight_gradient(const Tensor& dy, const Tensor& x) {  // it wants many rows of output
  if (dy.size(1) >= x.size(1)) return onednn_linear(dy.t(), x.t(), {});
  return onednn_linear(x.t(), dy.t(), {}).t().contiguous();
}

}  // namespace blockzoo
