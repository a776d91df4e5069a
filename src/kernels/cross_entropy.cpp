#include "blockzoo/kernels/cross_entropy.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/fast.h"
#include "kernels/rows/cross_entropy.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

TokenLosses cross_entropy_by_formula(const Tensor& logits, const Tensor& targets) {
  const auto wide = logits.to(at::promote_types(logits.scalar_type(), at::kFloat));
  const auto log_z = at::logsumexp(wide, -1);
  const auto target = wide.gather(-1, targets.clamp_min(0).unsqueeze(-1)).squeeze(-1);
  return {(log_z - target).masked_fill(targets < 0, 0), log_z};
}

template <class F>
void over_rows(const Tensor& targets, const F& f) {
  at::parallel_for(0, targets.numel(), 4, [&](int64_t from, int64_t to) { f(from, static_cast<size_t>(to - from)); });
}

struct FusedCrossEntropy : torch::autograd::Function<FusedCrossEntropy> {
  static variable_list forward(AutogradContext* context, const Tensor& input, const Tensor& targets) {
    RECORD_USER_SCOPE("blockzoo::cross_entropy");
    const auto logits = input.contiguous();
    const auto vocabulary = logits.size(-1);
    auto losses = at::empty(targets.sizes(), at::kFloat), log_z = at::empty(targets.sizes(), at::kFloat);
    by_element(logits, [&]<class T>(T) {
      over_rows(targets, [&](int64_t first, size_t count) {
        rows::cross_entropy(count, static_cast<size_t>(vocabulary), read<T>(logits) + first * vocabulary,
                            read<int64_t>(targets) + first, write<float>(losses) + first, write<float>(log_z) + first);
      });
    });
    context->save_for_backward({logits, targets, log_z});
    return {losses, log_z};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &logits = saved[0], &targets = saved[1], &log_z = saved[2];
    const auto given = [&](const Tensor& gradient) {
      return gradient.defined() ? gradient.contiguous() : at::zeros_like(log_z);
    };
    const auto dlosses = given(gradients[0]), dlog_z = given(gradients[1]);
    const auto vocabulary = logits.size(-1);
    auto dlogits = empty_as(logits);
    by_element(logits, [&]<class T>(T) {
      over_rows(targets, [&](int64_t first, size_t count) {
        rows::cross_entropy_backward(count, static_cast<size_t>(vocabulary), read<T>(logits) + first * vocabulary,
                                     read<int64_t>(targets) + first, read<float>(log_z) + first,
                                     read<float>(dlosses) + first, read<float>(dlog_z) + first,
                                     write<T>(dlogits) + first * vocabulary);
      });
    });
    return {dlogits, Tensor()};
  }
};

/// The fused rows read a logit wherever a target points.
bool within(const Tensor& targets, int64_t vocabulary) {
  return targets.numel() == 0 || targets.max().item<int64_t>() < vocabulary;
}

}  // namespace

TokenLosses cross_entropy(const Tensor& logits, const Tensor& targets) {
  const auto vocabulary = logits.size(-1);
  TORCH_CHECK(targets.sizes() == logits.sizes().slice(0, logits.dim() - 1) && targets.scalar_type() == at::kLong,
              "[cross_entropy] needs logits [..., V] and int64 targets [...], got ", logits.sizes(), " and ",
              targets.sizes());
  if (!fast_on_cpu(logits) || !targets.is_cpu() || logits.numel() == 0)
    return cross_entropy_by_formula(logits, targets);
  TORCH_CHECK(within(targets, vocabulary), "[cross_entropy] targets must be below ", vocabulary);
  const auto results = FusedCrossEntropy::apply(logits, targets.contiguous());
  return {results[0], results[1]};
}

}  // namespace blockzoo
