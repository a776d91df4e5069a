#include "blockzoo/infer/induction.h"

#include <ATen/ATen.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <random>

#include "blockzoo/core/hash.h"
#include "blockzoo/kernels/attention_observer.h"
#include "blockzoo/nn/eval_scope.h"

namespace blockzoo {
namespace {

constexpr int64_t kUsualLength = 50;
constexpr int64_t kLeastLength = 3;  // below, the token that followed is the previous one

/// L, and an error where there is none.
int64_t length_of(const InductionOptions& options, int64_t context) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    if (value < least) throw std::invalid_argument(fmt::format("{} must be {} or more, got {}", name, least, value));
  };
  if (options.length != 0) at_least("length", options.length, kLeastLength);
  at_least("sequences", options.sequences, 1);
  if (!(options.found > 0 && options.found <= 1))
    throw std::invalid_argument(fmt::format("found must be above 0 and at most 1, got {}", options.found));
  const auto most = std::min((context - std::ssize(options.before)) / 2, std::ssize(options.ids));
  const auto length = options.length == 0 ? std::min(kUsualLength, most) : options.length;
  if (length > most || length < kLeastLength)
    throw std::runtime_error(
        fmt::format("random sequences of {} tokens do not fit: the context of {} tokens and the {} tokens that may be "
                    "drawn allow {}, and {} is the least",
                    std::max(length, kLeastLength), context, options.ids.size(), most, kLeastLength));
  return length;
}

/// L of the ids, in random order.
std::vector<int64_t> drawn(std::vector<int64_t> ids, int64_t length, std::mt19937_64& random) {
  for (size_t i = 0; i < static_cast<size_t>(length); ++i)
    std::swap(ids[i], ids[std::uniform_int_distribution<size_t>(i, ids.size() - 1)(random)]);
  ids.resize(static_cast<size_t>(length));
  return ids;
}

/// Sums, over sequences, of each head's mean weights in the second half.
struct HalfListener final : AttentionObserver {
  HalfListener(int64_t before, int64_t length) : before_(before), length_(length) {}

  struct Sums {
    Tensor on_following, on_previous;  // [H]
    double chance = 0;
    bool in_reach = true;
  };
  void attended(const ObservedAttention& seen) override {
    // Row i - d of the d-th diagonal below the main one is w_i,i-d.
    const auto back = [&](const Tensor& x, int64_t distance) {
      return x.diagonal(-distance, 1, 2).narrow(1, before_ + length_ - distance, length_);  // [H, L]
    };
    auto& sums = by_layer.try_emplace(seen.layer).first->second;
    const auto following = back(seen.weights, length_ - 1).mean(-1, false, at::kDouble);
    const auto previous = back(seen.weights, 1).mean(-1, false, at::kDouble);
    sums.on_following = sums.on_following.defined() ? sums.on_following + following : following;
    sums.on_previous = sums.on_previous.defined() ? sums.on_previous + previous : previous;
    const auto visible = seen.scores[0].slice(0, before_ + length_).ne(-INFINITY).sum(-1);
    sums.chance += visible.to(at::kDouble).reciprocal().mean().item<double>();
    sums.in_reach = back(seen.scores, length_ - 1).ne(-INFINITY).all().item<bool>();
  }
  std::map<int64_t, Sums> by_layer;

 private:
  const int64_t before_, length_;
};

/// What all layers do while the model reads sequences of one length.
std::map<int64_t, HalfListener::Sums> sums_over(ModelImpl& model, const std::vector<std::vector<int64_t>>& sequences,
                                                int64_t before, int64_t length) {
  HalfListener listener(before, length);
  for (const auto& ids : sequences) model.hidden(at::tensor(ids, at::kLong).unsqueeze(0));
  return std::move(listener.by_layer);
}

}  // namespace

InductionScores induction_scores(ModelImpl& model, const InductionOptions& options) {
  const auto length = length_of(options, model.config().context);
  std::vector<std::vector<int64_t>> repeated, fresh;
  for (int64_t sequence = 0; sequence < options.sequences; ++sequence) {
    std::mt19937_64 random(seed_for(options.seed, "induction", static_cast<uint64_t>(sequence)));
    const auto first = drawn(options.ids, length, random), other = drawn(options.ids, length, random);
    for (const auto& [texts, second] : {std::pair(&repeated, &first), std::pair(&fresh, &other)}) {
      auto& ids = texts->emplace_back(options.before);
      ids.insert(ids.end(), first.begin(), first.end());
      ids.insert(ids.end(), second->begin(), second->end());
    }
  }
  const at::NoGradGuard no_grad;
  const EvalScope evaluation(model);
  const auto with = sums_over(model, repeated, std::ssize(options.before), length);
  const auto without = sums_over(model, fresh, std::ssize(options.before), length);
  InductionScores scores{
      .length = length, .sequences = options.sequences, .seed = options.seed, .found = options.found, .heads = {}};
  const auto count = static_cast<double>(options.sequences);
  for (const auto& [layer, sums] : with) {
    const auto& control = without.at(layer);
    for (int64_t head = 0; head < sums.on_following.size(0); ++head) {
      const auto mean = [&](const Tensor& sum) { return sum[head].item<double>() / count; };
      InductionHead found{.layer = layer,
                          .head = head,
                          .repeat = mean(sums.on_following),
                          .fresh = mean(control.on_following),
                          .on_previous = mean(sums.on_previous),
                          .chance = sums.chance / count,
                          .in_reach = sums.in_reach};
      found.found = found.repeat - found.fresh >= options.found;
      scores.heads.push_back(found);
    }
  }
  return scores;
}

}  // namespace blockzoo
