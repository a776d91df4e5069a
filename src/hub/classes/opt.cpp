#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

/// Layer norm with an eps of 1e-5 and parameters or none.
void norm(ConfigMap& map, NormConfig& norm) {
  auto& layer = map.kind<LayerNormConfig>(norm);
  map.implied(layer.eps, 1e-5);
  map.all("layer_norm_elementwise_affine", {&layer.gain, &layer.bias}, true);
}

void opt_config(ConfigMap& map, Stack& stack) {
  auto& model = stack.model;
  sizes(map, stack, {.tied = true});
  map.same("word_embed_proj_dim", model.embedding_width, model.width);
  bool before = std::holds_alternative<PreNormConfig>(stack.layers.front().layout);
  map.same("do_layer_norm_before", before, true);
  bool no_final = !map.reading() && std::holds_alternative<NoNormConfig>(final_norm(stack));
  map.same("_remove_final_layer_norm", no_final, false);
  if (before && !no_final) {
    norm(map, final_norm(stack));
  } else {
    map.kind<NoNormConfig>(final_norm(stack));
  }
  each_layer(stack, [&](BlockConfig& block, size_t) {
    if (before) {
      map.kind<PreNormConfig>(block.layout);
    } else {
      map.kind<PostNormConfig>(block.layout);
    }
    norm(map, block.norm);
    map.implied(map.kind<LearnedPositionConfig>(block.position).unused_rows, 2);
    auto& heads = attention(map, stack, block, {.key_heads = "", .width = ""});
    map.same("attention_dropout", heads.dropout, 0.0);
    map.same("dropout", block.dropout, 0.1);
    auto& ffn = mlp(map, block, Activation::kRelu, "activation_function", "ffn_dim");
    map.all("enable_bias", {&heads.query_bias, &heads.key_bias, &heads.value_bias, &heads.output_bias, &ffn.bias},
            true);
  });
  map.always("layerdrop", 0.0);
  map.without_effect({"init_std", "activation_dropout", "prefix"});
}

WeightNames opt_names(const Stack&) {
  const std::string theirs = "model.decoder.layers.#.", ours = "blocks.#.";
  return WeightNames{{"model.decoder.embed_tokens.weight", {"embedding.weight"}},
                     {"model.decoder.embed_positions.weight", {"position.table.weight"}},
                     {"model.decoder.project_in.weight", {"embedding_projection.weight"}},
                     {"model.decoder.project_out.weight", {"head_projection.weight"}}} +
         norm_names(theirs + "self_attn_layer_norm", ours + "attention_norm") +
         norm_names(theirs + "final_layer_norm", ours + "ffn_norm") +
         matrix(theirs + "self_attn.q_proj", ours + "attention.query") +
         matrix(theirs + "self_attn.k_proj", ours + "attention.key") +
         matrix(theirs + "self_attn.v_proj", ours + "attention.value") +
         matrix(theirs + "self_attn.out_proj", ours + "attention.output") + matrix(theirs + "fc1", ours + "ffn.up") +
         matrix(theirs + "fc2", ours + "ffn.down") + norm_names("model.decoder.final_layer_norm", "final_norm");
}

}  // namespace

const HubClass& opt_class() {
  static const HubClass description{
      .name = "OPTForCausalLM", .model_type = "opt", .config = opt_config, .weights = opt_names};
  return description;
}

}  // namespace blockzoo
