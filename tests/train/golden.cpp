#include "support/golden.h"

#include "blockzoo/nn/model.h"
#include "blockzoo/train/loss.h"
#include "blockzoo/train/optimizer.h"
#include "support/from_yaml.h"

namespace blockzoo {
namespace {

Tensor ids(const nlohmann::json& rows) {
  std::vector<Tensor> all;
  for (const auto& row : rows) all.push_back(at::tensor(row.get<std::vector<int64_t>>(), at::kLong));
  return at::stack(all);
}

Tensor list(const nlohmann::json& numbers) { return tensor_of(numbers, {static_cast<int64_t>(numbers.size())}); }

TEST_CASE("Cross entropy and z-loss equal PyTorch's, with their gradient", "[train][loss][torch][golden]") {
  for (const auto& one : golden("loss")["cases"]) {
    for (const auto type : {at::kDouble, at::kFloat}) {
      INFO(one["name"] << " in " << type);
      const double z_loss = one["z_loss"], spread = one["spread"];
      const auto targets = ids(one["targets"]);
      const auto logits = (spread * ramp("logits", {2, 5, 7})).to(type).requires_grad_();
      const auto sums = loss_sums(logits, targets, z_loss > 0);
      const auto tokens = targets.numel();
      check_near("cross entropy", sums.cross_entropy / tokens,
                 at::tensor(one["cross_entropy"].get<double>(), at::kDouble));
      if (z_loss > 0)
        check_near("z-loss", z_loss * sums.z / tokens, at::tensor(one["penalty"].get<double>(), at::kDouble));
      batch_loss(sums, z_loss, tokens).backward();
      check_near("gradient", logits.grad(), tensor_of(one["gradient"], {2, 5, 7}));
    }
  }
}

TEST_CASE("Ten steps of AdamW with clipping equal PyTorch's", "[train][optimizer][torch][golden]") {
  const auto file = golden("adamw");
  const auto& settings = file["settings"];
  const AdamwConfig config{.lr = settings["lr"],
                           .beta1 = settings["beta1"],
                           .beta2 = settings["beta2"],
                           .eps = settings["eps"],
                           .weight_decay = settings["weight_decay"]};
  for (const auto& one : file["cases"]) {
    for (const auto type : {at::kDouble, at::kFloat}) {
      INFO(one["name"] << " in " << type);
      Model model(from_yaml<ModelConfig>(one["config"].dump()));
      model->to(type);
      fill_with_ramp(*model);
      auto decayed = decay_groups(*model, config).decayed, expected = one["decayed"].get<std::vector<std::string>>();
      std::sort(decayed.begin(), decayed.end());
      std::sort(expected.begin(), expected.end());
      CHECK(decayed == expected);
      Adamw optimizer(config, *model);
      std::vector<double> losses, norms;
      for (const auto& batch : one["tokens"]) {
        const auto tokens = ids(batch);
        optimizer.zero_grad();
        const auto sums = loss_sums(model(tokens.slice(1, 0, -1)), tokens.slice(1, 1), false);
        const auto loss = batch_loss(sums, 0, sums.tokens);
        loss.backward();
        losses.push_back(loss.item<double>());
        norms.push_back(optimizer.gradient_norm());
        optimizer.step(1, clip_divisor(norms.back(), settings["clip"]));
      }
      const Tolerance allowed{type == at::kDouble ? 1e-8 : 1e-5, 1e-5};
      check_near("losses", at::tensor(losses), list(one["losses"]), allowed);
      check_near("gradient norms", at::tensor(norms), list(one["gradient_norms"]), allowed);
      const auto parameters = parameters_of(*model);
      CHECK(parameters.size() == one["parameters"].size());
      for (const auto& [name, parameter] : parameters) {
        // Softmax does not see a key bias beside learned positions: its gradient is rounding noise, of which AdamW
        // makes steps.
        if (type == at::kFloat && name.ends_with("key.bias")) continue;
        check_near(name, parameter, tensor_of(one["parameters"][name], parameter.sizes()), allowed);
      }
    }
  }
}

}  // namespace
}  // namespace blockzoo
