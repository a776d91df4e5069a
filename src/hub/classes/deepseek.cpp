#include <array>
#include <charconv>
#include <cmath>

#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

/// DeepSeek's magnitude of a context that is stretched by `factor`.
double magnitude(double mscale, double factor) { return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1; }

/// The number near `start` of which `f` is `wanted` to the last digit; the shortest one, as people write them.
template <class F>
std::optional<double> exactly(double wanted, double start, const F& f) {
  for (int digits = 1; digits <= 17; ++digits) {
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), start, std::chars_format::scientific, digits);
    double candidate = 0;
    std::from_chars(text.data(), end.ptr, candidate);
    if (f(candidate) == wanted) return candidate;
  }
  double below = start, above = start;
  for (int step = 0; step < 64; ++step) {
    below = std::nextafter(below, -INFINITY);
    above = std::nextafter(above, INFINITY);
    if (f(below) == wanted) return below;
    if (f(above) == wanted) return above;
  }
  return std::nullopt;
}

double usual_factor(const LatentAttentionConfig& latent) {
  return 1 / std::sqrt(static_cast<double>(latent.nope_width.value_or(1) + latent.rope_width.value_or(1)));
}

/// The factor of the scores grows with a stretched context: 1 / sqrt(Kn + Kr), times (0.1 mscale_all_dim ln(factor) +
/// 1)^2. Beside it stands the mscale that makes the factor of cos and sin, for readers that know no attention_factor.
void write_score_factor(ConfigMap& map, const LatentAttentionConfig& latent, const RopePositionConfig& rope) {
  const auto* yarn = std::get_if<YarnRopeScaling>(&rope.scaling);
  const auto usual = usual_factor(latent), wanted = latent.scale.value_or(usual);
  if (yarn == nullptr || yarn->factor <= 1 || wanted == usual) return;
  const auto growth = 0.1 * std::log(yarn->factor);
  const auto all_dim = exactly(wanted, (std::sqrt(wanted / usual) - 1) / growth, [&](double mscale) {
    const auto m = magnitude(mscale, yarn->factor);
    return usual * m * m;
  });
  if (!all_dim) return;
  const auto below = magnitude(*all_dim, yarn->factor), turns = yarn->attention_factor.value_or(growth + 1);
  const auto mscale = exactly(turns, (turns * below - 1) / growth,
                              [&](double value) { return magnitude(value, yarn->factor) / below; });
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    map.put(key)["attention_factor"] = turns;
    map.put(key)["mscale_all_dim"] = *all_dim;
    if (mscale) map.put(key)["mscale"] = *mscale;
  }
}

void read_score_factor(const ConfigMap& map, LatentAttentionConfig& latent) {
  latent.scale = usual_factor(latent);
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    const auto found = map.json().find(key);
    if (found == map.json().end() || !found->is_object()) continue;
    const auto number = [&](const char* name) {
      return found->contains(name) && (*found)[name].is_number() ? (*found)[name].get<double>() : 0;
    };
    const bool scaled = found->value("rope_type", found->value("type", std::string("default"))) != "default";
    if (!scaled || number("mscale_all_dim") == 0) continue;
    const auto m = magnitude(number("mscale_all_dim"), number("factor"));
    latent.scale = *latent.scale * m * m;
    return;
  }
}

void latent_attention(ConfigMap& map, BlockConfig& block) {
  auto& latent = map.kind<LatentAttentionConfig>(block.attention);
  map.same("num_attention_heads", latent.heads);
  int64_t key_heads = latent.heads;
  map.same("num_key_value_heads", key_heads, latent.heads);
  if (key_heads != latent.heads) throw CannotHold("num_key_value_heads", "must equal num_attention_heads");
  if (map.reading() && !map.json().contains("q_lora_rank")) throw CannotHold("q_lora_rank", "is missing");
  map.off_or("q_lora_rank", latent.query_rank);
  map.same("kv_lora_rank", latent.key_value_rank);
  map.same("qk_nope_head_dim", latent.nope_width);
  map.same("qk_rope_head_dim", latent.rope_width);
  map.same("v_head_dim", latent.value_width);
  if (!map.reading()) map.put("head_dim") = *latent.rope_width;
  map.same("attention_dropout", latent.dropout, 0.0);
  map.implied(map.kind<RmsNormConfig>(latent.latent_norm).eps, 1e-6);
}

void dense(ConfigMap& map, Stack& stack, bool version2) {
  sizes(map, stack);
  rms_norm(map, final_norm(stack));
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    rms_norm(map, block.norm);
    latent_attention(map, block);
    const auto& heads = std::get<LatentAttentionConfig>(block.attention);
    require(map, !version2 || stack.model.width % heads.heads == 0, "block.attention.heads", "must divide width there");
    auto& position = rotary(map, stack, block);
    if (map.reading()) {
      read_score_factor(map, std::get<LatentAttentionConfig>(block.attention));
    } else {
      write_score_factor(map, std::get<LatentAttentionConfig>(block.attention), position);
    }
    if (version2) {
      map.implied(position.pairing, RopePairing::kInterleaved);
    } else {
      bool interleaved = position.pairing == RopePairing::kInterleaved;
      map.same("rope_interleave", interleaved, true);
      if (map.reading()) position.pairing = interleaved ? RopePairing::kInterleaved : RopePairing::kHalf;
    }
    auto& ffn = glu(map, block);
    if (version2) map.same("mlp_bias", ffn.bias, false);
  });
  map.always("attention_bias", false);
  auto first_sparse = stack.model.layers;
  map.same("first_k_dense_replace", first_sparse, int64_t{version2 ? 0 : 3});
  if (first_sparse < stack.model.layers)
    throw CannotHold("first_k_dense_replace",
                     "leaves layers of experts, which this program does not have; it must be the number of layers");
  // Of layers of experts, of which there are none.
  map.without_effect({"head_dim",
                      "qk_head_dim",
                      "n_routed_experts",
                      "n_shared_experts",
                      "moe_intermediate_size",
                      "num_experts_per_tok",
                      "n_group",
                      "topk_group",
                      "topk_method",
                      "norm_topk_prob",
                      "scoring_func",
                      "routed_scaling_factor",
                      "moe_layer_freq",
                      "ep_size",
                      "aux_loss_alpha",
                      "seq_aux",
                      "output_router_logits",
                      "num_nextn_predict_layers",
                      "num_mtp_layers",
                      "pretraining_tp"});
}

WeightNames deepseek_names(const Stack&) {
  const std::string theirs = "model.layers.#.", ours = "blocks.#.";
  return WeightNames{{"model.embed_tokens.weight", {"embedding.weight"}}} + pre_norm_names() +
         matrix(theirs + "self_attn.q_proj", ours + "attention.query") +
         matrix(theirs + "self_attn.q_a_proj", ours + "attention.query_down") +
         norm_names(theirs + "self_attn.q_a_layernorm", ours + "attention.query_norm") +
         matrix(theirs + "self_attn.q_b_proj", ours + "attention.query_up") +
         matrix(theirs + "self_attn.kv_a_proj_with_mqa", ours + "attention.key_value_down") +
         norm_names(theirs + "self_attn.kv_a_layernorm", ours + "attention.key_value_norm") +
         matrix(theirs + "self_attn.kv_b_proj", ours + "attention.key_value_up") +
         matrix(theirs + "self_attn.o_proj", ours + "attention.output") +
         matrix(theirs + "mlp.gate_proj", ours + "ffn.gate") + matrix(theirs + "mlp.up_proj", ours + "ffn.up") +
         matrix(theirs + "mlp.down_proj", ours + "ffn.down") + norm_names("model.norm", "final_norm");
}

}  // namespace

const HubClass& deepseek2_class() {
  static const HubClass description{.name = "DeepseekV2ForCausalLM",
                                    .model_type = "deepseek_v2",
                                    .config = [](ConfigMap& map, Stack& stack) { dense(map, stack, true); },
                                    .weights = deepseek_names};
  return description;
}

const HubClass& deepseek3_class() {
  static const HubClass description{.name = "DeepseekV3ForCausalLM",
                                    .model_type = "deepseek_v3",
                                    .config = [](ConfigMap& map, Stack& stack) { dense(map, stack, false); },
                                    .weights = deepseek_names};
  return description;
}

}  // namespace blockzoo
