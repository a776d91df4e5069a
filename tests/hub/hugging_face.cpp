#include "blockzoo/hub/hugging_face.h"

#include <nlohmann/json.hpp>

#include "blockzoo/hub/safetensors.h"
#include "blockzoo/text/byte_tokenizer.h"
#include "hub/files.h"
#include "support/catch.h"
#include "support/hub_models.h"
#include "support/near.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;
using test::error_of;

/// A folder with a Llama in it, whose config.json can be changed.
struct Exported {
  explicit Exported(const std::string& more = "{}") {
    export_hub_model(small_model(more), {.folder = folder / "m", .files = {}});
    config = config_of(folder / "m");
  }
  std::string refusal() {
    test::write_plainly(folder / "m/config.json", config.dump());
    return error_of([&] { import_hub_model(folder / "m"); });
  }
  TemporaryFolder folder;
  Json config;
};

}  // namespace

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
  const auto report = export_hub_model(small_model("{}"), {.folder = folder / "m", .shard_bytes = 4000, .files = {}});
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
  const auto model = small_model("{}");
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
  CHECK_THAT(error_of([&] { export_hub_model(small_model("{}"), {.folder = folder / "m", .files = {}}); }),
             ContainsSubstring("is there already"));
  CHECK(folder.names() == std::vector<std::string>{"m"});
  std::filesystem::remove(folder / "m/precious.txt");
  export_hub_model(small_model("{}"), {.folder = folder / "m", .files = {{"README.md", "text"}}});
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
