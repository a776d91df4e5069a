#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

void phi3_config(ConfigMap& map, Stack& stack) {
  sizes(map, stack);
  rms_norm(map, final_norm(stack), 1e-5);
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    rms_norm(map, block.norm, 1e-5);
    auto& heads = attention(map, stack, block);
    map.off_or("sliding_window", heads.window);
    map.same("attention_dropout", heads.dropout, 0.0);
    map.same("resid_pdrop", block.dropout, 0.0);
    rotary(map, stack, block, {.partial = true, .scales = false});
    glu(map, block);
  });
  if (!map.reading()) map.put("original_max_position_embeddings") = stack.model.context;
  map.without_effect({"original_max_position_embeddings", "embd_pdrop"});
}

WeightNames phi3_names() {
  const std::string theirs = "model.layers.#.", ours = "blocks.#.";
  return WeightNames{
             {"model.embed_tokens.weight", {"embedding.weight"}},
             {theirs + "self_attn.qkv_proj.weight",
              {ours + "attention.query.weight", ours + "attention.key.weight", ours + "attention.value.weight"},
              Layout::kRows},
             {theirs + "self_attn.o_proj.weight", {ours + "attention.output.weight"}},
             {theirs + "mlp.gate_up_proj.weight", {ours + "ffn.gate.weight", ours + "ffn.up.weight"}, Layout::kRows},
             {theirs + "mlp.down_proj.weight", {ours + "ffn.down.weight"}}} +
         pre_norm_names() + norm_names("model.norm", "final_norm");
}

}  // namespace

const HubClass& phi3_class() {
  static const HubClass description{
      .name = "Phi3ForCausalLM", .model_type = "phi3", .config = phi3_config, .weights = [](const Stack&) {
        return phi3_names();
      }};
  return description;
}

}  // namespace blockzoo
