#include "blockzoo/nn/model.h"
#include "support/from_yaml.h"
#include "support/near.h"

namespace blockzoo {
namespace {

ModelConfig tiny() {
  return from_yaml<ModelConfig>(
      "{vocabulary: 13, width: 8, layers: 2, context: 8, block: {attention: {heads: 2}, ffn: {hidden: 6}}}");
}

/// Logits before token 4 must not know token 4; those from there on must.
void check_no_look_ahead(const ModelConfig& config) {
  Model model(config);
  model->init_parameters(1);
  const at::NoGradGuard no_grad;
  for (auto& parameter : model->parameters())
    parameter.mul_(parameter.dim() == 2 ? 10 : 1);  // so that attention is not flat
  const auto tokens = at::tensor({1, 2, 3, 4, 5, 6, 7, 8}).view({1, 8});
  auto changed = tokens.clone();
  changed[0][4] = 12;
  const auto before = model->forward(tokens), after = model->forward(changed);
  check_equal("logits before the change", after.slice(1, 0, 4), before.slice(1, 0, 4));
  CHECK_FALSE(at::equal(after.slice(1, 4, 5), before.slice(1, 4, 5)));
  CHECK_FALSE(at::equal(after.slice(1, 5, 6), before.slice(1, 5, 6)));
}

TEST_CASE("no logit knows a later token, whatever the attention, position encoding and layout",
          "[nn][torch][contract][model]") {
  for (const auto& attention : all_kinds<AttentionConfig>()) {
    for (const auto& position : all_kinds<PositionConfig>()) {
      for (const auto& layout : all_kinds<LayoutConfig>()) {
        for (const int64_t window : {0, 3}) {
          INFO(kind_of(attention) << ", " << kind_of(position) << ", " << kind_of(layout) << ", window " << window);
          auto config = tiny();
          config.block.attention = attention;
          std::visit(
              [&](auto& kind) {
                kind.heads = 2;
                kind.window = window;
              },
              config.block.attention);
          config.block.position = position;
          config.block.layout = layout;
          check_no_look_ahead(config);
        }
      }
    }
  }
}

TEST_CASE("no logit knows a later token with soft caps and norms of queries and keys", "[nn][torch][contract][model]") {
  for (const auto& qk_norm : all_kinds<QkNormConfig>()) {
    INFO(kind_of(qk_norm));
    auto config = tiny();
    config.block.attention = SoftmaxAttentionConfig{.heads = 4, .kv_heads = 2, .qk_norm = qk_norm, .softcap = 3};
    check_no_look_ahead(config);
  }
}

TEST_CASE("sequences of a batch do not know each other", "[nn][torch][contract][model]") {
  Model model(tiny());
  model->init_parameters(1);
  const at::NoGradGuard no_grad;
  const auto tokens = at::arange(16).remainder(13).view({2, 8});
  check_near("the second sequence alone", model->forward(tokens.slice(0, 1)), model->forward(tokens).slice(0, 1));
}

}  // namespace
}  // namespace blockzoo
