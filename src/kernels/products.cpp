#include "kernels/products.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "kernels/fast.h"
#include "kernels/many_rows.h"
#include "kernels/parallel.h"
#include "kernels/processor.h"
#include "kernels/rows/instructions.h"
#include "kernels/rows/weight_gradient.h"

namespace blockzoo {
namespace {

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

Tensor onednn_linear(const Tensor& a, const Tensor& b, const Tensor& bias) {
  torch::jit::Stack stack;
  stack.emplace_back(a);
  stack.emplace_back(b);
  stack.emplace_back(bias.defined() ? c10::IValue(bias.contiguous()) : c10::IValue());  // it would not see gaps
  stack.emplace_back("none");
  stack.emplace_back(c10::List<std::optional<at::Scalar>>());
  stack.emplace_back("");
  onednn()->callBoxed(stack);
  return stack.front().toTensor();
}

Tensor weight_gradient_by_rows(const Tensor& dy, const Tensor& x, Tensor& packed) {
  const auto size = [](const Tensor& of, int64_t dim) { return static_cast<size_t>(of.size(dim)); };
  const rows::WeightGradientShape shape{.rows = size(x, 0), .outputs = size(dy, 1), .inputs = size(x, 1)};
  if (!packed.defined()) {
    packed = at::empty({static_cast<int64_t>(shape.packed_size())}, x.options());
    in_parallel(shape.packing_tasks(), [&](size_t first, size_t last) {
      rows::pack_inputs(shape, read<float>(x), first, last, write<float>(packed));
    });
  }
  auto dw = at::empty({dy.size(1), x.size(1)}, x.options());
  in_parallel(shape.strips(), [&](size_t first, size_t last) {
    rows::weight_gradient(shape, read<float>(dy), read<float>(packed), first, last, write<float>(dw));
  });
  return dw;
}

ProcessorKind this_processor() {
#if defined(__x86_64__)
  constexpr bool x86 = true;
#else
  constexpr bool x86 = false;
#endif
  return {.x86 = x86,
          .amd = processor_is_amd(),
          .pairs = rows::multiplies_pairs(),
          .at_once = processor_is_wide_amd(),
          .tiles = rows::multiplies_tiles()};
}

}  // namespace

std::string name_of(Multiplier multiplier) {
  if (multiplier == Multiplier::kBlas) return at::hasMKL() ? "MKL" : "BLAS";
  return multiplier == Multiplier::kOnednn ? "oneDNN" : "rows";
}

std::string Products::words() const {
  const auto text = "products by " + name_of(outputs);
  return weight_gradients == outputs ? text : text + ", their weight gradients by " + name_of(weight_gradients);
}

Products products_for(const ProcessorKind& processor, bool mkl) {
  using enum Multiplier;
  if (processor.in_halves()) return {kRows, kRows};
  if (processor.amd) return {kOnednn, kRows};
  return mkl ? Products{kBlas, kBlas} : Products{kOnednn, kOnednn};
}

const Products& products() {
  static const auto choice = onednn_is_there() ? products_for(this_processor(), at::hasMKL()) : Products{};
  return choice;
}

bool onednn_is_there() { return onednn().has_value(); }

Tensor linear_by(Multiplier multiplier, const Tensor& a, const Tensor& b, const Tensor& bias) {
  if (multiplier == Multiplier::kBlas) return at::linear(a, b, given(bias));
  return multiplier == Multiplier::kRows ? linear_by_rows(a, b, bias) : onednn_linear(a, b, bias);
}

Tensor float_linear(const Tensor& a, const Tensor& b, const Tensor& bias) {
  return linear_by(products().outputs, a, b, bias);
}

Tensor as_matrix(const Tensor& x) { return x.reshape({-1, x.size(-1)}); }

Tensor weight_gradient_by(Multiplier multiplier, const Tensor& dy, const Tensor& x, Tensor& packed) {
  if (multiplier == Multiplier::kBlas) return at::mm(dy.t(), x);
  if (multiplier == Multiplier::kRows) return weight_gradient_by_rows(dy.contiguous(), x.contiguous(), packed);
  if (dy.size(1) >= x.size(1)) return onednn_linear(dy.t(), x.t(), {});  // it wants many rows of output
  return onednn_linear(x.t(), dy.t(), {}).t().contiguous();
}

Bfloat16Products bfloat16_products_for(const ProcessorKind& processor) {
  using enum Bfloat16Products;
  if (!processor.x86 || processor.tiles) return kLibTorch;
  if (processor.in_halves()) return kRows;
  return processor.pairs ? kPairs : kWidened;
}

Bfloat16Products bfloat16_products() {
  static const auto choice = bfloat16_products_for(this_processor());
  return choice;
}

std::string words_of(Bfloat16Products products) {
  if (products == Bfloat16Products::kWidened) return "bfloat16 widened to float32";
  if (products == Bfloat16Products::kRows) return "bfloat16 by rows";
  const std::string text = "bfloat16 by LibTorch";
  return products == Bfloat16Products::kPairs ? text + ", its weight gradients by rows" : text;
}

}  // namespace blockzoo
