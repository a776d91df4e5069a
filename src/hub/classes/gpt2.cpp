#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

void gpt2_config(ConfigMap& map, Stack& stack) {
  auto& model = stack.model;
  sizes(map, stack, {.width = "n_embd", .layers = "n_layer", .context = "n_positions", .tied = true});
  layer_norm(map, final_norm(stack), "layer_norm_epsilon");
  map.same("embd_pdrop", model.embedding_dropout, 0.1);
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    layer_norm(map, block.norm, "layer_norm_epsilon");
    map.kind<LearnedPositionConfig>(block.position);
    auto& heads = attention(map, stack, block, {.heads = "n_head", .key_heads = "", .width = ""});
    for (auto* bias : {&heads.query_bias, &heads.key_bias, &heads.value_bias, &heads.output_bias})
      map.implied(*bias, true);
    map.same("attn_pdrop", heads.dropout, 0.1);
    map.same("resid_pdrop", block.dropout, 0.1);
    auto& ffn = map.kind<MlpConfig>(block.ffn);
    map.activation("activation_function", ffn.activation, Activation::kGeluTanh, /*new_gelu=*/true);
    map.same("n_inner", ffn.hidden, 4 * model.width);
    map.implied(ffn.bias, true);
  });
  map.always("scale_attn_weights", true);
  map.always("scale_attn_by_inverse_layer_idx", false);
  map.without_effect({"n_ctx", "reorder_and_upcast_attn", "summary_type", "summary_use_proj", "summary_activation",
                      "summary_proj_to_labels", "summary_first_dropout"});
}

WeightNames gpt2_names() {
  const std::string theirs = "transformer.h.#.", ours = "blocks.#.";
  return WeightNames{{"transformer.wte.weight", {"embedding.weight"}},
                     {"transformer.wpe.weight", {"position.table.weight"}}} +
         fused_attention(theirs + "attn.c_attn", Layout::kRowsTransposed, Layout::kRows) +
         norm_names(theirs + "ln_1", ours + "attention_norm") + norm_names(theirs + "ln_2", ours + "ffn_norm") +
         matrix(theirs + "attn.c_proj", ours + "attention.output", Layout::kTransposed) +
         matrix(theirs + "mlp.c_fc", ours + "ffn.up", Layout::kTransposed) +
         matrix(theirs + "mlp.c_proj", ours + "ffn.down", Layout::kTransposed) +
         norm_names("transformer.ln_f", "final_norm");
}

}  // namespace

const HubClass& gpt2_class() {
  static const HubClass description{.name = "GPT2LMHeadModel",
                                    .model_type = "gpt2",
                                    .config = gpt2_config,
                                    .weights = [](const Stack&) { return gpt2_names(); },
                                    .prefix = "transformer.",
                                    .buffers = {".attn.bias", ".attn.masked_bias"}};
  return description;
}

}  // namespace blockzoo
