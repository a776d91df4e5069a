#include <cmath>

#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

void gptj_config(ConfigMap& map, Stack& stack) {
  auto& model = stack.model;
  sizes(map, stack, {.width = "n_embd", .layers = "n_layer", .context = "n_positions"});
  map.implied(model.head_bias, true);
  layer_norm(map, final_norm(stack), "layer_norm_epsilon");
  map.same("embd_pdrop", model.embedding_dropout, 0.0);
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<ParallelConfig>(block.layout);
    layer_norm(map, block.norm, "layer_norm_epsilon");
    auto& heads = attention(map, stack, block, {.heads = "n_head", .key_heads = "", .width = ""});
    map.same("attn_pdrop", heads.dropout, 0.0);
    map.same("resid_pdrop", block.dropout, 0.0);
    auto& rope = map.kind<RopePositionConfig>(block.position);
    const auto width = static_cast<double>(head_width(stack, block));
    int64_t turning = std::llround(rope.rotary_fraction * width);
    map.same("rotary_dim", turning);
    if (map.reading()) rope.rotary_fraction = static_cast<double>(turning) / width;
    map.implied(rope.pairing, RopePairing::kInterleaved);
    auto& ffn = map.kind<MlpConfig>(block.ffn);
    map.activation("activation_function", ffn.activation, Activation::kGeluTanh, /*new_gelu=*/true);
    map.same("n_inner", ffn.hidden, 4 * model.width);
    map.implied(ffn.bias, true);
  });
  map.always("scale_attn_weights", true);
  map.without_effect({"n_ctx", "rotary", "summary_type", "summary_use_proj", "summary_activation",
                      "summary_proj_to_labels", "summary_first_dropout"});
}

WeightNames gptj_names(const Stack&) {
  const std::string theirs = "transformer.h.#.", ours = "blocks.#.";
  return WeightNames{{"transformer.wte.weight", {"embedding.weight"}}, {"lm_head.bias", {"head_bias"}}} +
         norm_names(theirs + "ln_1", ours + "norm") + matrix(theirs + "attn.q_proj", ours + "attention.query") +
         matrix(theirs + "attn.k_proj", ours + "attention.key") +
         matrix(theirs + "attn.v_proj", ours + "attention.value") +
         matrix(theirs + "attn.out_proj", ours + "attention.output") + matrix(theirs + "mlp.fc_in", ours + "ffn.up") +
         matrix(theirs + "mlp.fc_out", ours + "ffn.down") + norm_names("transformer.ln_f", "final_norm");
}

}  // namespace

const HubClass& gptj_class() {
  static const HubClass description{.name = "GPTJForCausalLM",
                                    .model_type = "gptj",
                                    .config = gptj_config,
                                    .weights = gptj_names,
                                    .prefix = "transformer.",
                                    .buffers = {".attn.bias", ".attn.masked_bias", ".attn.embed_positions"}};
  return description;
}

}  // namespace blockzoo
