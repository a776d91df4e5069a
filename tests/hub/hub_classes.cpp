#include <cmath>
#include <fstream>

#include "blockzoo/hub/hugging_face.h"
#include "blockzoo/hub/npy.h"
#include "blockzoo/hub/safetensors.h"
#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/model.h"
#include "hub/files.h"
#include "hub/transformers/rotary_rows.h"
#include "hub/transformers/stack.h"
#include "support/catch.h"
#include "support/covering.h"
#include "support/hub_models.h"
#include "support/near.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::error_of;

/// In place of a model's values the gradients of its cross entropy on these ids, without dropout.
LoadedModel gradients_of(const LoadedModel& loaded, const std::vector<int64_t>& ids) {
  Model model(loaded.config);
  load_weights(*model, loaded.weights, "the model");
  model->eval();
  const auto tokens = at::tensor(ids, at::kLong);
  at::cross_entropy_loss(model->forward(tokens.slice(0, 0, -1).unsqueeze(0))[0], tokens.slice(0, 1)).backward();
  LoadedModel gradients{loaded.config, {}};
  for (const auto& item : model->named_parameters()) gradients.weights[item.key()] = item.value().grad();
  return gradients;
}

struct ClassExample {
  std::string name;
  std::string model;
};

const std::string kBiased = "query_bias: true, key_bias: true, value_bias: true, output_bias: true";

const std::string kGemma4 =
    "tied: true, embedding_scale: {kind: sqrt_width}, block: {layout: {kind: double_norm}, output_factor: true, ";
const std::string kGemma4Norms = "scale: 1.0, qk_norm: {kind: head}, value_norm: {kind: rms_norm, gain: false}";

std::vector<ClassExample> examples() {
  const std::string ln = "norm: {kind: layer_norm}", rope = "position: {kind: rope";
  return {
      {"LlamaForCausalLM", "{tied: true, block: {attention: {kv_heads: 2, " + kBiased + "}, ffn: {bias: true}}}"},
      {"LlamaForCausalLM",
       "{block: {" + rope + ", scaling: {kind: llama3, original_context: 8}}, ffn: {activation: sigmoid}}}"},
      {"MistralForCausalLM", "{block: {attention: {window: 5, head_width: 6}}}"},
      {"Qwen2ForCausalLM",
       "{block: {attention: {query_bias: true, key_bias: true, value_bias: true}}, overrides: [{layers: '1:', block: "
       "{attention: {window: 5}}}]}"},
      {"Qwen3ForCausalLM", "{block: {attention: {head_width: 6, qk_norm: {kind: head}}}}"},
      {"GemmaForCausalLM",
       "{tied: true, embedding_scale: {kind: sqrt_width}, block: {norm: {unit_offset: true}, ffn: {activation: "
       "gelu_tanh}}}"},
      {"Gemma2ForCausalLM",
       "{tied: true, embedding_scale: {kind: sqrt_width}, final_softcap: 2.0, block: {layout: {kind: double_norm}, "
       "norm: {unit_offset: true}, "
       "attention: {window: 5, softcap: 1.5}}, overrides: [{layers: [2], block: {attention: {window: 0}}}]}"},
      {"Gemma3ForCausalLM",
       "{tied: true, embedding_scale: {kind: sqrt_width}, block: {layout: {kind: double_norm}, norm: {unit_offset: "
       "true}, "
       "attention: {window: 5, qk_norm: {kind: head, norm: {unit_offset: true}}}}, overrides: [{layers: [1], block: "
       "{attention: {window: 0}, position: {theta: 1e6}}}]}"},
      {"Gemma4ForCausalLM",
       "{layers: 2, " + kGemma4 + "attention: {heads: 4, kv_heads: 2, head_width: 6, window: 5, " + kGemma4Norms +
           "}}, overrides: [{layers: [1], block: {attention: {head_width: 8, kv_heads: 1, window: 0, "
           "keys_as_values: true}, position: {theta: 1e6, still_fraction: 0.75}}}]}"},
      {"Gemma4ForCausalLM",
       "{layers: 4, layer_embedding_width: 5, final_softcap: 3.0, " + kGemma4 +
           "ffn: {activation: gelu_tanh, hidden: 20}, attention: {heads: 4, kv_heads: 1, head_width: 6, window: 5, " +
           kGemma4Norms +
           "}}, overrides: [{layers: '1::2', block: {attention: {head_width: 8, window: 0}, position: {theta: 1e6, "
           "still_fraction: 0.5}}}, {layers: '2:', block: {attention: {reuse_keys_values: true}, ffn: {hidden: "
           "40}}}]}"},
      {"Gemma4ForCausalLM", "{" + kGemma4 + "attention: {heads: 4, " + kBiased + ", " + kGemma4Norms + "}}}"},
      {"OlmoForCausalLM", "{block: {norm: {kind: layer_norm, gain: false, bias: false}}}"},
      {"Olmo2ForCausalLM", "{block: {layout: {kind: output_norm}, attention: {qk_norm: {kind: full}}}}"},
      {"Olmo3ForCausalLM",
       "{block: {layout: {kind: output_norm}, attention: {window: 5, qk_norm: {kind: full}}}, overrides: [{layers: "
       "[2], block: {attention: {window: 0}}}]}"},
      {"Phi3ForCausalLM", "{block: {" + rope + ", rotary_fraction: 0.5}, dropout: 0.1}}"},
      {"GPT2LMHeadModel", "{tied: true, embedding_dropout: 0.1, block: {" + ln +
                              ", position: {kind: learned}, attention: {" + kBiased +
                              "}, ffn: {kind: mlp, bias: true}}}"},
      {"GPTNeoXForCausalLM", "{block: {layout: {kind: parallel_two_norms}, " + ln + ", attention: {" + kBiased +
                                 "}, ffn: {kind: mlp, bias: true}}}"},
      {"GPTJForCausalLM", "{head_bias: true, block: {layout: {kind: parallel}, " + ln + ", " + rope +
                              ", pairing: interleaved, rotary_fraction: 0.5}, ffn: {kind: mlp, bias: true}}}"},
      {"OPTForCausalLM",
       "{tied: true, embedding_width: 6, final_norm: {kind: none}, block: {layout: {kind: post_norm}, " + ln +
           ", position: {kind: learned, unused_rows: 2}, attention: {" + kBiased + "}, ffn: {kind: mlp, bias: true}}}"},
      {"BloomForCausalLM", "{tied: true, embedding_norm: {kind: layer_norm}, block: {" + ln +
                               ", position: {kind: alibi}, attention: {" + kBiased +
                               "}, ffn: {kind: mlp, activation: gelu_tanh, bias: true}}}"},
      {"MptForCausalLM",
       "{tied: true, block: {norm: {kind: layer_norm, bias: false}, position: {kind: alibi}, ffn: {kind: mlp}}}"},
      {"FalconForCausalLM",
       "{block: {layout: {kind: parallel}, " + ln + ", attention: {kv_heads: 1}, ffn: {kind: mlp}}}"},
      {"FalconForCausalLM",
       "{block: {layout: {kind: parallel_two_norms}, " + ln + ", attention: {kv_heads: 2}, ffn: {kind: mlp}}}"},
      {"StableLmForCausalLM", "{block: {layout: {kind: parallel}, " + ln +
                                  ", attention: {qk_norm: {kind: head_own, norm: {kind: layer_norm, bias: false}}}}}"},
      {"CohereForCausalLM",
       "{logit_scale: {kind: constant, value: 0.25}, block: {layout: {kind: parallel}, norm: {kind: layer_norm, bias: "
       "false}, " +
           rope + ", pairing: interleaved}}}"},
      {"Cohere2ForCausalLM",
       "{block: {layout: {kind: parallel}, norm: {kind: layer_norm, bias: false}, " + rope +
           ", pairing: interleaved}, attention: {window: 5}}, "
           "overrides: [{layers: [2], block: {attention: {window: 0}, position: {kind: none}}}]}"},
      {"NemotronForCausalLM",
       "{block: {norm: {kind: layer_norm, unit_offset: true}, ffn: {kind: mlp, activation: relu_squared}}}"},
      {"SmolLM3ForCausalLM", "{overrides: [{layers: [1], block: {position: {kind: none}}}]}"},
      {"Starcoder2ForCausalLM",
       "{block: {" + ln + ", attention: {window: 5, " + kBiased + "}, ffn: {kind: mlp, bias: true}}}"},
      {"GraniteForCausalLM",
       "{embedding_scale: {kind: constant, value: 3}, block: {residual_scale: 0.5, attention: {scale: 0.3}}}"},
      {"PhiForCausalLM", "{head_bias: true, block: {layout: {kind: parallel}, " + ln + ", attention: {" + kBiased +
                             "}, ffn: {kind: mlp, bias: true}}}"},
      {"DeepseekV2ForCausalLM",
       "{block: {" + rope +
           ", pairing: interleaved}, attention: {kind: latent, heads: 4, rope_width: 4}, ffn: {bias: true}}}"},
      {"DeepseekV3ForCausalLM", "{block: {attention: {kind: latent, heads: 4, rope_width: 4, query_rank: 6}}}"},
  };
}

}  // namespace

TEST_CASE("Each class holds its model: it reads back to an equal config and equal weights", "[hub][torch]") {
  for (const auto& [name, text] : examples()) {
    INFO(name << " " << text);
    const TemporaryFolder folder;
    const auto model = small_model(text);
    const auto report = export_hub_model(model, {.folder = folder / "m", .stock_only = true, .files = {}});
    CHECK(report.class_name == name);
    CHECK(report.not_stock.empty());
    CHECK(report.relative_error == 0);
    const auto back = import_hub_model(folder / "m");
    CHECK(back.class_name == name);
    CHECK(all_differences(stack_of(model.config), stack_of(back.model.config)).empty());
    REQUIRE(back.model.weights.size() == model.weights.size());
    for (const auto& [parameter, value] : model.weights)
      check_equal(parameter, back.model.weights.at(parameter), value);
  }
}

TEST_CASE("Rows of queries and keys change their order when a class pairs channels the other way", "[hub][torch]") {
  const std::string interleaved = "position: {kind: rope, pairing: interleaved";
  const std::vector<ClassExample> cases{
      {"LlamaForCausalLM", "{block: {" + interleaved + "}, attention: {kv_heads: 2, " + kBiased + "}}}"},
      {"Phi3ForCausalLM", "{block: {" + interleaved + ", rotary_fraction: 0.5}}}"},
      {"Qwen3ForCausalLM", "{block: {" + interleaved + "}, attention: {qk_norm: {kind: head}}}}"},
      {"Olmo2ForCausalLM",
       "{block: {layout: {kind: output_norm}, " + interleaved + "}, attention: {qk_norm: {kind: full}}}}"},
      {"CohereForCausalLM",
       "{block: {layout: {kind: parallel}, norm: {kind: layer_norm, bias: false}, attention: {qk_norm: {kind: "
       "head_own, norm: {kind: layer_norm, bias: false}}}}}"},
      {"DeepseekV2ForCausalLM", "{block: {attention: {kind: latent, heads: 4, rope_width: 4}, ffn: {bias: true}}}"},
  };
  for (const auto& [name, text] : cases) {
    INFO(name << " " << text);
    const TemporaryFolder folder;
    const auto report = export_hub_model(small_model(text), {.folder = folder / "m", .stock_only = true, .files = {}});
    CHECK(report.class_name == name);
    CHECK(report.relative_error < 1e-5);  // the same products, summed in another order
  }
}

// With BLOCKZOO_COVERING_FOLDER the exports stay there, for tools/golden/check_hf_classes.py.
TEST_CASE("Every model of the covering set is exported, with our modelling file where no class holds it",
          "[hub][torch]") {
  const char* keep = std::getenv("BLOCKZOO_COVERING_FOLDER");
  int own = 0, number = 0;
  for (const auto& [name, config] : covering_models()) {
    INFO(name);
    const TemporaryFolder temporary;
    const auto folder = (keep == nullptr ? temporary.path() : std::filesystem::path(keep)) / std::to_string(number++);
    const auto model = filled_model(config);
    const auto report = export_hub_model(model, {.folder = folder, .files = {}});
    CHECK(report.relative_error <= 1e-6);
    const bool has_file = std::filesystem::exists(folder / "modeling_blockzoo.py");
    CHECK(has_file == (report.class_name == "BlockzooForCausalLM"));
    CHECK(has_file == !report.not_stock.empty());
    own += has_file ? 1 : 0;
    if (has_file) CHECK(all_differences(stack_of(config), stack_of(import_hub_model(folder).model.config)).empty());
    if (keep == nullptr) continue;
    save_npy(folder / "logits.npy", report.logits);
    std::ofstream ids(folder / "ids.txt");
    for (const auto id : report.prompt) ids << id << " ";
    export_hub_model(gradients_of(model, report.prompt), {.folder = folder / "gradients", .files = {}});
  }
  CHECK(own > 0);
}

TEST_CASE("With stock_only a model that no class holds is refused, with the field", "[hub][error][torch]") {
  const auto refusal = [](const std::string& more) {
    const TemporaryFolder folder;
    const auto text = error_of(
        [&] { export_hub_model(small_model(more), {.folder = folder / "m", .stock_only = true, .files = {}}); });
    CHECK(folder.names().empty());
    return text;
  };
  CHECK_THAT(refusal("{block: {dropout: 0.1, attention: {" + kBiased + "}}}"),
             ContainsSubstring("the nearest, LlamaForCausalLM, cannot hold block.dropout, which is 0.1"));
  CHECK_THAT(refusal("{block: {ffn: {activation: selu}}}"),
             ContainsSubstring("LlamaForCausalLM, cannot hold block.ffn.activation, which is selu"));
  CHECK_THAT(refusal("{overrides: [{layers: [1], block: {residual_scale: 0.5}}]}"),
             ContainsSubstring("layers.1.residual_scale, which is 0.5"));
  CHECK_THAT(refusal("{block: {norm: {kind: scale_norm}}}"), ContainsSubstring("kind: scale_norm"));
}

TEST_CASE("Keys that are values keep the order of their channels, whatever the pairing of a class", "[hub][torch]") {
  const auto model =
      small_model("{block: {position: {kind: rope, pairing: interleaved}, attention: {keys_as_values: true}}}");
  CHECK_FALSE(with_pairing(stack_of(model.config), RopePairing::kHalf).has_value());
  const TemporaryFolder folder;
  CHECK(export_hub_model(model, {.folder = folder / "m", .files = {}}).relative_error == 0);
}

TEST_CASE("DeepSeek's factor of a stretched context is written as mscale_all_dim, to the last digit", "[hub][torch]") {
  const TemporaryFolder folder;
  const double m = 0.1 * 0.707 * std::log(40.0) + 1, scale = 1 / std::sqrt(8.0) * m * m;
  const auto model = small_model(
      "{block: {position: {kind: rope, scaling: {kind: yarn, factor: 40, original_context: 8, attention_factor: 1.0}}, "
      "attention: {kind: latent, heads: 4, nope_width: 4, rope_width: 4, scale: " +
      write_number(scale) + "}}}");
  export_hub_model(model, {.folder = folder / "m", .stock_only = true, .files = {}});
  for (const auto* key : {"rope_parameters", "rope_scaling"}) {
    CHECK(config_of(folder / "m")[key]["mscale_all_dim"] == 0.707);
    CHECK(config_of(folder / "m")[key]["mscale"] == 0.707);
  }
}

TEST_CASE("Square matrices keep their orientation", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto model =
      small_model("{tied: true, block: {norm: {kind: layer_norm}, position: {kind: learned}, attention: {" + kBiased +
                  "}, ffn: {kind: mlp, hidden: 16, bias: true}}}");
  CHECK(export_hub_model(model, {.folder = folder / "m", .stock_only = true, .files = {}}).class_name ==
        "GPT2LMHeadModel");
  const auto theirs = load_safetensors(folder / "m/model.safetensors");
  const auto ours = [&](const std::string& name) { return model.weights.at("blocks.1." + name); };
  check_equal("c_fc", theirs.at("transformer.h.1.mlp.c_fc.weight"), ours("ffn.up.weight").t());
  check_equal("key", theirs.at("transformer.h.1.attn.c_attn.weight").slice(1, 16, 32),
              ours("attention.key.weight").t());
}

}  // namespace blockzoo
