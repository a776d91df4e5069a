#include "blockzoo/hub/hugging_face.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "blockzoo/hub/npy.h"
#include "blockzoo/hub/safetensors.h"
#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/text/byte_tokenizer.h"
#include "hub/files.h"
#include "hub/transformers/rotary_rows.h"
#include "hub/transformers/stack.h"
#include "support/catch.h"
#include "support/covering.h"
#include "support/near.h"
#include "support/ramp.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;
using test::error_of;

/// A model whose every parameter has a value of its own.
LoadedModel filled(const ModelConfig& config) {
  Model model(config);
  fill_with_ramp(*model);
  return {config, weights_of(*model)};
}

/// A small model: three layers of width 16 over 37 ids, with `more` laid over it.
LoadedModel small(const std::string& more) {
  const auto base =
      parse_yaml("{vocabulary: 37, width: 16, layers: 3, context: 24, block: {attention: {heads: 4}}}", "test");
  return filled(read_config<ModelConfig>(overlay(base, parse_yaml(more, "test"))));
}

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

Json config_of(const std::filesystem::path& folder) { return Json::parse(read_file(folder / "config.json")); }

/// A folder with a Llama in it, whose config.json can be changed.
struct Exported {
  explicit Exported(const std::string& more = "{}") {
    export_hub_model(small(more), {.folder = folder / "m", .files = {}});
    config = config_of(folder / "m");
  }
  std::string refusal() {
    test::write_plainly(folder / "m/config.json", config.dump());
    return error_of([&] { import_hub_model(folder / "m"); });
  }
  TemporaryFolder folder;
  Json config;
};

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
    const auto model = small(text);
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
    const auto report = export_hub_model(small(text), {.folder = folder / "m", .stock_only = true, .files = {}});
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
    const auto model = filled(config);
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
    const auto text =
        error_of([&] { export_hub_model(small(more), {.folder = folder / "m", .stock_only = true, .files = {}}); });
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
      small("{block: {position: {kind: rope, pairing: interleaved}, attention: {keys_as_values: true}}}");
  CHECK_FALSE(with_pairing(stack_of(model.config), RopePairing::kHalf).has_value());
  const TemporaryFolder folder;
  CHECK(export_hub_model(model, {.folder = folder / "m", .files = {}}).relative_error == 0);
}

TEST_CASE("DeepSeek's factor of a stretched context is written as mscale_all_dim, to the last digit", "[hub][torch]") {
  const TemporaryFolder folder;
  const double m = 0.1 * 0.707 * std::log(40.0) + 1, scale = 1 / std::sqrt(8.0) * m * m;
  const auto model = small(
      "{block: {position: {kind: rope, scaling: {kind: yarn, factor: 40, original_context: 8, attention_factor: 1.0}}, "
      "attention: {kind: latent, heads: 4, nope_width: 4, rope_width: 4, scale: " +
      write_number(scale) + "}}}");
  export_hub_model(model, {.folder = folder / "m", .stock_only = true, .files = {}});
  for (const auto* key : {"rope_parameters", "rope_scaling"}) {
    CHECK(config_of(folder / "m")[key]["mscale_all_dim"] == 0.707);
    CHECK(config_of(folder / "m")[key]["mscale"] == 0.707);
  }
}

TEST_CASE("config.json says rotary positions as both versions of transformers read them", "[hub][torch]") {
  Exported made("{block: {position: {kind: rope, theta: 5e5, scaling: {kind: linear, factor: 3.0}}}}");
  CHECK(made.config["rope_theta"] == 5e5);
  CHECK(made.config["rope_scaling"] == Json({{"rope_type", "linear"}, {"factor", 3.0}}));
  CHECK(made.config["rope_parameters"] == Json({{"rope_type", "linear"}, {"factor", 3.0}, {"rope_theta", 5e5}}));
  CHECK(made.config["dtype"] == "float32");
  CHECK(made.config["torch_dtype"] == "float32");
  CHECK(made.config["head_dim"] == 4);
  CHECK(made.config.at("eos_token_id").is_null());
  const auto reads_theta = [&](double theta) {
    CHECK(made.refusal() == "");
    const auto imported = import_hub_model(made.folder / "m");
    const auto& rope = std::get<RopePositionConfig>(imported.model.config.block.position);
    CHECK(rope.theta == theta);
    return imported;
  };
  made.config.erase("rope_parameters");
  CHECK(reads_theta(5e5).defaults.empty());
  made.config.erase("rope_scaling");
  made.config.erase("rope_theta");
  made.config["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 7e5}};
  reads_theta(7e5);
  made.config.erase("rope_parameters");
  const auto without = reads_theta(1e4);
  CHECK(without.defaults == std::vector<std::string>{"rope_theta 10000.0"});
  made.config["rope_scaling"] = {{"rope_type", "longrope"}, {"factor", 2.0}};
  CHECK_THAT(made.refusal(), ContainsSubstring("rope_type is 'longrope', which this program does not have"));
  made.config["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 2.0}, {"wobble", 1}};
  CHECK_THAT(made.refusal(), ContainsSubstring("'wobble'"));
  made.config["rope_scaling"] = {{"rope_type", "default"}, {"partial_rotary_factor", 0.5}};
  CHECK_THAT(made.refusal(), ContainsSubstring("partial_rotary_factor is 0.5"));
}

TEST_CASE("A key that is unknown, missing or of another kind is refused by its name", "[hub][error][torch]") {
  const auto refusal = [](const auto& change) {
    Exported made;
    change(made.config);
    return made.refusal();
  };
  const auto set = [&](const std::string& key, const Json& value) {
    return refusal([&](Json& config) { config[key] = value; });
  };
  CHECK(set("some_future_key", nullptr) == "");
  CHECK(set("initializer_range", 7) == "");
  CHECK_THAT(set("some_future_key", 1), ContainsSubstring("config.json: 'some_future_key' may change the model"));
  CHECK_THAT(set("quantization_config", Json::object()), ContainsSubstring("'quantization_config'"));
  CHECK_THAT(set("hidden_act", "mish"), ContainsSubstring("hidden_act is 'mish'"));
  CHECK_THAT(set("hidden_size", "16"), ContainsSubstring("hidden_size must be a whole number, not '16'"));
  CHECK_THAT(set("hidden_size", 1e9), ContainsSubstring("hidden_size must be a whole number"));
  CHECK_THAT(set("hidden_size", -16), ContainsSubstring("hidden_size is -16"));
  CHECK_THAT(set("num_hidden_layers", 0), ContainsSubstring("num_hidden_layers is 0"));
  CHECK_THAT(set("num_hidden_layers", 1000000000), ContainsSubstring("num_hidden_layers is 1000000000"));
  CHECK_THAT(set("num_attention_heads", 0), ContainsSubstring("num_attention_heads is 0"));
  CHECK_THAT(set("num_key_value_heads", 3), ContainsSubstring("must divide heads"));
  CHECK_THAT(set("rms_norm_eps", 0), ContainsSubstring("eps: is 0"));
  CHECK_THAT(set("vocab_size", 18446744073709551615ULL), ContainsSubstring("vocab_size"));
  CHECK_THAT(set("model_type", "t5"), ContainsSubstring("model_type is 't5'") && ContainsSubstring("llama"));
  CHECK_THAT(set("is_encoder_decoder", true), ContainsSubstring("is_encoder_decoder is true"));
  CHECK_THAT(refusal([](Json& config) { config.erase("intermediate_size"); }),
             ContainsSubstring("intermediate_size is missing"));
  CHECK_THAT(refusal([](Json& config) { config.erase("model_type"); }), ContainsSubstring("model_type is missing"));
  CHECK_THAT(refusal([](Json& config) { config = Json::array(); }), ContainsSubstring("must be a map"));
  Exported made;
  test::write_plainly(made.folder / "m/config.json", "{");
  CHECK_THAT(error_of([&] { import_hub_model(made.folder / "m"); }), ContainsSubstring("config.json: is not JSON"));
}

TEST_CASE("Tensors that are missing, unexpected or misshapen are refused, all at once", "[hub][error][torch]") {
  Exported made;
  const auto file = made.folder / "m/model.safetensors";
  const auto original = load_safetensors(file);
  const auto refusal = [&](const auto& change) {
    auto tensors = original;
    change(tensors);
    save_safetensors(file, {tensors.begin(), tensors.end()});
    return error_of([&] { import_hub_model(made.folder / "m"); });
  };
  CHECK_THAT(refusal([](auto& tensors) {
               tensors.erase("model.layers.1.mlp.up_proj.weight");
               tensors["model.norm.weight"] = at::ones({3});
               tensors["lm_head.weight"] = at::ones({37, 16}, at::kLong);
               tensors["model.layers.7.stranger"] = at::ones({1});
             }),
             ContainsSubstring("nothing was imported") &&
                 ContainsSubstring("missing: model.layers.1.mlp.up_proj.weight [42, 16]") &&
                 ContainsSubstring("wrong shape: model.norm.weight is [3], config.json needs [16]") &&
                 ContainsSubstring("wrong type: lm_head.weight is I64") &&
                 ContainsSubstring("unexpected: model.layers.7.stranger [1]"));
  CHECK(refusal([](auto&) {}) == "");
  made.config["tie_word_embeddings"] = true;
  CHECK_THAT(made.refusal(), ContainsSubstring("tie_word_embeddings is true") && ContainsSubstring("lm_head.weight"));
  CHECK(refusal([](auto& tensors) { tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]; }) == "");
}

TEST_CASE("A model without its head's prefix is read, where the head is tied", "[hub][torch]") {
  Exported made("{tied: true}");
  const auto file = made.folder / "m/model.safetensors";
  NamedTensors bare;
  for (const auto& [name, tensor] : load_safetensors(file))
    bare.emplace_back(name.substr(std::string("model.").size()), tensor);
  save_safetensors(file, bare);
  CHECK(made.refusal() == "");
}

TEST_CASE("Weights are cut into files of a given size, and read back through their index", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto report = export_hub_model(small("{}"), {.folder = folder / "m", .shard_bytes = 4000, .files = {}});
  CHECK(report.relative_error == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "m/model.safetensors"));
  const auto index_path = folder / "m/model.safetensors.index.json";
  auto index = Json::parse(read_file(index_path));
  std::set<std::string> files;
  for (const auto& [name, file] : index["weight_map"].items()) files.insert(file);
  CHECK(files.size() > 5);
  uint64_t bytes = 0;
  for (const auto& file : files) {
    const SafetensorsFile part(folder / "m" / file);
    CHECK(part.metadata().at("format") == "pt");
    uint64_t own = 0;
    for (const auto& info : part.tensors()) own += info.end - info.begin;
    CHECK((own <= 4000 || part.tensors().size() == 1));
    bytes += own;
  }
  CHECK(index["metadata"]["total_size"] == bytes);
  const auto refusal = [&](const std::string& file) {
    index["weight_map"]["model.norm.weight"] = file;
    test::write_plainly(index_path, index.dump());
    return error_of([&] { import_hub_model(folder / "m"); });
  };
  CHECK_THAT(refusal("../secret"), ContainsSubstring("'../secret' is no file of the folder"));
  CHECK_THAT(refusal(*files.begin()), ContainsSubstring("has no tensor 'model.norm.weight'"));
  std::filesystem::remove(folder / "m" / *files.begin());
  CHECK_THAT(refusal(*files.rbegin()), ContainsSubstring(*files.begin()));
}

TEST_CASE("Half-precision weights are the rounded ones", "[hub][torch]") {
  const auto model = small("{}");
  for (const auto type : {at::kBFloat16, at::kHalf}) {
    const TemporaryFolder folder;
    const auto report = export_hub_model(model, {.folder = folder / "m", .dtype = type, .files = {}});
    CHECK(report.relative_error == 0);
    const auto stored = load_safetensors(folder / "m/model.safetensors").at("model.norm.weight");
    CHECK(stored.scalar_type() == type);
    check_equal("norm", stored.to(at::kFloat), model.weights.at("final_norm.gain").to(type).to(at::kFloat));
    CHECK(config_of(folder / "m")["dtype"] == (type == at::kHalf ? "float16" : "bfloat16"));
  }
}

TEST_CASE("A folder that holds something is left alone", "[hub][error][torch]") {
  const TemporaryFolder folder;
  folder.write("m/precious.txt", "x");
  CHECK_THAT(error_of([&] { export_hub_model(small("{}"), {.folder = folder / "m", .files = {}}); }),
             ContainsSubstring("is there already"));
  CHECK(folder.names() == std::vector<std::string>{"m"});
  std::filesystem::remove(folder / "m/precious.txt");
  export_hub_model(small("{}"), {.folder = folder / "m", .files = {{"README.md", "text"}}});
  CHECK(read_file(folder / "m/README.md") == "text");
  CHECK(folder.names() == std::vector<std::string>{"m"});
}

TEST_CASE("Ids of special tokens are carried from an imported folder to its export", "[hub][torch]") {
  Exported made;
  made.config["eos_token_id"] = {3, 5};
  made.config["bos_token_id"] = 1;
  CHECK(made.refusal() == "");
  const auto imported = import_hub_model(made.folder / "m");
  export_hub_model(imported.model, {.folder = made.folder / "again", .files = {}, .special_ids = imported.special_ids});
  for (const auto* file : {"config.json", "generation_config.json"}) {
    const auto json = Json::parse(read_file(made.folder / "again" / file));
    CHECK(json["eos_token_id"] == Json({3, 5}));
    CHECK(json["bos_token_id"] == 1);
    CHECK(json.at("pad_token_id").is_null());
  }
}

TEST_CASE("Square matrices keep their orientation", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto model = small("{tied: true, block: {norm: {kind: layer_norm}, position: {kind: learned}, attention: {" +
                           kBiased + "}, ffn: {kind: mlp, hidden: 16, bias: true}}}");
  CHECK(export_hub_model(model, {.folder = folder / "m", .stock_only = true, .files = {}}).class_name ==
        "GPT2LMHeadModel");
  const auto theirs = load_safetensors(folder / "m/model.safetensors");
  const auto ours = [&](const std::string& name) { return model.weights.at("blocks.1." + name); };
  check_equal("c_fc", theirs.at("transformer.h.1.mlp.c_fc.weight"), ours("ffn.up.weight").t());
  check_equal("key", theirs.at("transformer.h.1.attn.c_attn.weight").slice(1, 16, 32),
              ours("attention.key.weight").t());
}

TEST_CASE("The byte tokenizer has one entry for each byte", "[hub]") {
  const auto files = byte_tokenizer_files(64);
  const auto tokenizer = Json::parse(files.at("tokenizer.json"));
  const auto& vocabulary = tokenizer["model"]["vocab"];
  CHECK(vocabulary.size() == 256);
  std::set<int> ids;
  for (const auto& [letter, id] : vocabulary.items()) ids.insert(id.get<int>());
  CHECK(ids.size() == 256);
  CHECK(vocabulary["A"] == 'A');
  CHECK(vocabulary["Ġ"] == ' ');
  CHECK(vocabulary["Ċ"] == '\n');
  CHECK(Json::parse(files.at("tokenizer_config.json"))["model_max_length"] == 64);
}

}  // namespace blockzoo
