// Bytes that attention with a window takes at most, as LibTorch's allocator reports them: no clock.
#include <torch/csrc/autograd/autograd.h>

#include "blockzoo/kernels/attention.h"
#include "blockzoo/kernels/choice.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/train/loss.h"
#include "lab/allocations.h"
#include "support/catch.h"
#include "support/from_yaml.h"

namespace blockzoo {
namespace {

constexpr int64_t kWindow = 256;

/// The peak of forward and backward over `length` positions, inputs not among it.
double attention_peak(int64_t length, int64_t groups, bool learned_bias, AttendOptions options) {
  options.scale = 0.25;
  options.window = kWindow;
  if (options.distance_bias.defined()) options.distance_bias = at::zeros({2, length}).requires_grad_(learned_bias);
  const auto q = at::ones({1, length, 2, 16}).requires_grad_();
  const auto k = at::ones({1, length, groups, 16}).requires_grad_(), v = at::ones_like(k).requires_grad_();
  const auto dy = at::ones({1, length, 2, 16});
  std::vector<Tensor> inputs{q, k, v};
  if (learned_bias) inputs.push_back(options.distance_bias);
  const AllocationScope allocations;
  torch::autograd::grad({attend(q, k, v, options)}, inputs, {dy});
  return allocations->peak();
}

/// The peak of a model's forward, loss and backward over one sequence as long as its context.
double model_peak(const std::string& block, int64_t context) {
  Model model(from_yaml<ModelConfig>("{vocabulary: 16, width: 32, layers: 2, context: " + std::to_string(context) +
                                     ", block: " + block + "}"));
  model->init_parameters(0);
  const auto tokens = at::zeros({1, context}, at::kLong);
  const AllocationScope allocations;
  loss_sums(model->forward(tokens), tokens, false).cross_entropy.backward();
  return allocations->peak();
}

/// What doubling the length from 2 n multiplies the growth from n by: 2 where bytes grow as T, 4 where as T x T,
/// whatever they begin with.
double growth_ratio(const std::function<double(int64_t)>& peak, int64_t n) {
  const double first = peak(n), second = peak(2 * n), third = peak(4 * n);
  CHECK(second > first);
  return (third - second) / (second - first);
}

}  // namespace

TEST_CASE("Attention with a window takes memory that grows as T, and by the formula as T x T",
          "[kernels][torch][fast][attention][memory]") {
  struct Case {
    const char* name;
    int64_t groups = 2;
    bool biased = false;
    bool learned = false;
    double softcap = 0, dropout = 0;
  };
  for (const auto& c :
       {Case{"plain"}, Case{.name = "ALiBi", .biased = true},
        Case{.name = "T5's bias", .biased = true, .learned = true}, Case{.name = "soft cap", .softcap = 20},
        Case{.name = "dropout", .dropout = 0.1}, Case{.name = "grouped heads", .groups = 1}}) {
    INFO(c.name);
    AttendOptions options{.softcap = c.softcap, .dropout = c.dropout};
    if (c.biased) options.distance_bias = at::zeros({2, 1});
    const auto peak = [&](int64_t length) { return attention_peak(length, c.groups, c.learned, options); };
    CHECK(growth_ratio(peak, 1024) == Approx(2).epsilon(0.05));
    const KernelScope reference(Kernels::kReference);
    CHECK(growth_ratio(peak, 256) > 2.5);
  }
}

TEST_CASE("A model with windows takes memory that grows as T, and by the formula as T x T",
          "[kernels][torch][fast][attention][memory]") {
  for (const std::string block :
       {"{attention: {heads: 2, window: 256}}", "{position: {kind: alibi}, attention: {heads: 2, window: 256}}",
        "{position: {kind: relative_bias}, attention: {heads: 2, window: 256}}",
        "{attention: {heads: 2, window: 256, softcap: 20}}", "{attention: {heads: 2, window: 256, dropout: 0.1}}",
        "{attention: {heads: 2, kv_heads: 1, window: 256}}", "{attention: {kind: latent, heads: 2, window: 256}}"}) {
    INFO(block);
    const auto peak = [&](int64_t length) { return model_peak(block, length); };
    CHECK(growth_ratio(peak, 1024) == Approx(2).epsilon(0.05));
    const KernelScope reference(Kernels::kReference);
    CHECK(growth_ratio(peak, 256) > 2.5);
  }
}

}  // namespace blockzoo
