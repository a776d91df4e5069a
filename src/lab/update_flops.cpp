#include "lab/update_flops.h"

#include <ATen/core/Tensor.h>

#include "blockzoo/nn/element_flops.h"
#include "blockzoo/nn/flops.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/nn/parameter.h"

namespace blockzoo {
namespace {

/// Cross entropy of one token, its z-loss and the final soft cap of its logits.
PassFlops loss_flops(const RunConfig& config) {
  const auto vocabulary = static_cast<double>(config.model.vocabulary);
  // log Z = max + log sum exp(x - max), loss = log Z - x[target]; dx = w exp(x - log Z), less dloss at the target.
  PassFlops flops{4 * vocabulary + 4, 3 * vocabulary + 1};
  if (config.train.loss.z_loss > 0) flops += PassFlops{2, 3};
  if (config.model.final_softcap > 0) flops += vocabulary * PassFlops{3, 3};
  return flops;
}

/// AdamW and the norm of its gradients, over all parameters.
double optimizer_flops(const RunConfig& config) {
  const BornOn meta(at::kMeta);
  const Model model(config.model);
  const auto groups = decay_groups(*model, std::get<AdamwConfig>(config.train.optimizer));
  double decayed = 0, all = 0;
  const auto parameters = model->named_parameters();
  for (const auto& name : groups.decayed) decayed += static_cast<double>(parameters[name].numel());
  for (const auto& item : parameters) all += static_cast<double>(item.value().numel());
  // Squares that are summed, and the clip; m three, v four, both corrected two, step five; decay two.
  return (2 + (config.train.clip > 0 ? 1 : 0) + 14) * all + 2 * decayed;
}

}  // namespace

std::map<std::string, KindFlops> update_flops(const RunConfig& choice) {
  const auto config = resolved(choice);
  const auto& model = config.model;
  const auto products = forward_flops(model, model.context);
  const auto elements = element_flops(model, model.context);
  const auto sequences = static_cast<double>(config.train.batch);
  const double attention = products.scores + products.values;
  const auto of_update = [&](const PassFlops& flops) { return KindFlops{.others = sequences * flops.total()}; };
  return {{"matrix products", {.products = 3 * sequences * (products.total() - attention)}},
          {"attention", {.products = 3 * sequences * attention}},
          {"softmax", of_update(elements.scores)},
          {"norms", of_update(elements.norms)},
          {"activations and gates", of_update(elements.activations)},
          {"positions", of_update(elements.positions)},
          {"embedding", of_update(elements.embedding)},
          {"sums, casts and copies", of_update(elements.sums)},
          {"loss", of_update(static_cast<double>(model.context) * loss_flops(config))},
          {"optimizer", {.others = optimizer_flops(config)}}};
}

std::string_view class_of_kind(std::string_view kind) {
  if (kind == "matrix products" || kind == "attention") return "contractions";
  if (kind == "norms" || kind == "softmax" || kind == "loss") return "normalisation";
  return kind == "rest" ? "other" : "element-wise";
}

}  // namespace blockzoo
