#include "blockzoo/infer/attention_maps.h"

#include <ATen/ATen.h>
#include <spdlog/fmt/fmt.h>

#include <map>

#include "blockzoo/kernels/attention_observer.h"
#include "blockzoo/nn/eval_scope.h"
#include "infer/prompt_check.h"

namespace blockzoo {
namespace {

/// Keeps what some layers do with the one sequence that is read.
struct MapKeeper final : AttentionObserver {
  explicit MapKeeper(const std::vector<int64_t>& layers) {
    for (const auto layer : layers) kept[layer].layer = layer;
  }
  void attended(const ObservedAttention& seen) override {
    const auto wanted = kept.find(seen.layer);
    if (wanted == kept.end()) return;
    wanted->second.weights = seen.weights;
    wanted->second.visible = seen.scores[0].ne(-INFINITY).sum(-1);
  }
  std::map<int64_t, AttentionMap> kept;
};

double share(const Tensor& part, const Tensor& whole) { return part.item<double>() / whole.item<double>(); }

}  // namespace

std::vector<AttentionMap> attention_maps(ModelImpl& model, const std::vector<int64_t>& ids,
                                         const std::vector<int64_t>& layers) {
  check_prompt(ids, "the prompt", model.config());
  const at::NoGradGuard no_grad;
  const EvalScope evaluation(model);
  MapKeeper keeper(layers);
  model.hidden(at::tensor(ids, at::kLong).unsqueeze(0));
  std::vector<AttentionMap> maps;
  for (auto& [layer, map] : keeper.kept) {
    if (!map.weights.defined()) throw std::runtime_error(fmt::format("layer {} has no attention weights", layer));
    maps.push_back(std::move(map));
  }
  return maps;
}

std::vector<HeadFigures> head_figures(const AttentionMap& map) {
  const auto w = map.weights.to(at::kDouble);
  const auto later = w.slice(1, 1);  // [H, T - 1, T]
  const auto entropy = -at::special_xlogy(later, later).sum(-1);
  const auto most = map.visible.slice(0, 1).to(at::kDouble).log().sum();
  const auto on_self = w.diagonal(0, 1, 2).slice(1, 1).mean(-1), on_previous = w.diagonal(-1, 1, 2).mean(-1),
             on_first = later.select(2, 0).mean(-1);
  std::vector<HeadFigures> heads;
  for (int64_t head = 0; head < w.size(0); ++head)
    heads.push_back({.entropy_nats = entropy[head].mean().item<double>(),
                     .entropy_share = share(entropy[head].sum(), most),
                     .on_self = on_self[head].item<double>(),
                     .on_previous = on_previous[head].item<double>(),
                     .on_first = on_first[head].item<double>()});
  return heads;
}

}  // namespace blockzoo
