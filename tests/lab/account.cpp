#include "blockzoo/lab/account.h"

#include <nlohmann/json.hpp>

#include "blockzoo/core/config_error.h"
#include "blockzoo/lab/account_text.h"
#include "blockzoo/lab/advice.h"
#include "support/catch.h"
#include "support/from_yaml.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

/// GPT-2's largest shape with Llama's parts, as in a course's assignment: gated, or with a hidden width of 4 D.
ModelConfig extra_large(int64_t hidden, const std::string& ffn = "glu") {
  return from_yaml<ModelConfig>(
      "{vocabulary: 50257, width: 1600, layers: 48, context: 1024, block: {attention: {heads: 25}, ffn: {kind: " + ffn +
      ", hidden: " + std::to_string(hidden) + "}}}");
}

double in_gb(double bytes) { return bytes / 1e9; }

}  // namespace

// Assignment 1 of Stanford's CS336, 2025 and 2026: AdamW in float32, every operation's output kept.
TEST_CASE("The account of GPT-2 XL's shape has the known answers", "[lab][torch][account]") {
  const auto gated = account_of(extra_large(4288), {});
  CHECK(gated.parameters.total == 1'640'452'800);
  CHECK(gated.forward.total() == Approx(3.517e12).epsilon(2e-4));
  CHECK(in_gb(gated.memory.weights) == Approx(6.56).margin(0.005));
  CHECK(in_gb(gated.memory.fixed()) == Approx(26.25).margin(0.005));
  CHECK(in_gb(gated.memory.of_batch(1, true)) - in_gb(gated.memory.fixed()) == Approx(16.17).margin(0.005));
  CHECK(gated.memory.largest_batch(80e9, true) == 3);

  const auto wide = account_of(extra_large(6400), {});
  CHECK(wide.parameters.total == 2'127'057'600);
  CHECK(in_gb(wide.memory.fixed()) == Approx(34.03).margin(0.005));
  CHECK(in_gb(wide.memory.of_batch(1, true)) - in_gb(wide.memory.fixed()) == Approx(17.83).margin(0.005));
  CHECK(wide.memory.largest_batch(80e9, true) == 2);
  const auto copied = account_of(extra_large(6400), {.logit_copies = 2});
  CHECK(in_gb(copied.memory.of_batch(1, true)) - in_gb(copied.memory.fixed()) == Approx(18.03).margin(0.005));

  const auto plain = account_of(extra_large(6400, "mlp"), {});
  CHECK(in_gb(plain.memory.fixed()) == Approx(26.17).margin(0.005));
  CHECK(in_gb(plain.memory.of_batch(1, true)) - in_gb(plain.memory.fixed()) == Approx(15.31).margin(0.005));
  CHECK(plain.memory.largest_batch(80e9, true) == 3);

  const auto longer = account_of(extra_large(4288), {.context = 16384});
  CHECK(longer.forward.total() == Approx(1.336e14).epsilon(4e-4));
  CHECK((longer.forward.scores + longer.forward.values) / longer.forward.total() == Approx(0.617).margin(5e-4));
}

TEST_CASE("The accounts of GPT-2's four shapes have the known answers, part by part", "[lab][torch][account]") {
  struct Row {
    int64_t width, layers, heads, hidden, parameters;
    double flops, ffn, projections, pairs, head;  // shares in percent
  };
  const auto row = GENERATE(values<Row>({{768, 12, 12, 2048, 162'148'608, 2.916e11, 39.8, 19.9, 13.3, 27.1},
                                         {1024, 24, 16, 2752, 406'539'264, 8.302e11, 50.1, 24.8, 12.4, 12.7},
                                         {1280, 36, 20, 3392, 833'591'040, 1.769e12, 54.3, 27.3, 10.9, 7.5},
                                         {1600, 48, 25, 4288, 1'640'452'800, 3.517e12, 57.5, 28.6, 9.2, 4.7},
                                         {768, 12, 12, 3072, 190'460'160, 3.496e11, 49.8, 16.6, 11.1, 22.6},
                                         {1024, 24, 16, 4096, 505'629'696, 1.033e12, 59.9, 20.0, 10.0, 10.2},
                                         {1280, 36, 20, 5120, 1'072'469'760, 2.258e12, 64.2, 21.4, 8.6, 5.8},
                                         {1600, 48, 25, 6400, 2'127'057'600, 4.513e12, 66.9, 22.3, 7.1, 3.6}}));
  ModelConfig model{.vocabulary = 50257, .width = row.width, .layers = row.layers, .context = 1024};
  std::get<SoftmaxAttentionConfig>(model.block.attention).heads = row.heads;
  std::get<GluConfig>(model.block.ffn).hidden = row.hidden;
  const auto account = account_of(model, {});
  const auto& forward = account.forward;
  const auto percent = [&](double part) { return 100 * part / forward.total(); };
  CHECK(account.parameters.total == row.parameters);
  CHECK(forward.total() == Approx(row.flops).epsilon(5e-4));
  CHECK(percent(forward.ffn) == Approx(row.ffn).margin(0.06));
  CHECK(percent(forward.query_key_value + forward.attention_output) == Approx(row.projections).margin(0.06));
  CHECK(percent(forward.scores + forward.values) == Approx(row.pairs).margin(0.06));
  CHECK(percent(forward.head) == Approx(row.head).margin(0.06));
}

TEST_CASE("The course's model and its variants have the known numbers of parameters", "[lab][torch][account]") {
  const auto parameters = [](const std::string& more) {
    const auto patch = parse_yaml(more, "patch");
    const auto base = parse_yaml(
        "{vocabulary: 10000, width: 512, layers: 4, context: 256, block: {attention: {heads: 16}, ffn: {hidden: "
        "1344}}}",
        "base");
    return account_of(read_config<ModelConfig>(overlay(base, patch)), {}).parameters.total;
  };
  CHECK(parameters("{}") == 22'696'448);
  CHECK(parameters("{block: {ffn: {kind: mlp, activation: silu, hidden: 2048}}}") == 22'827'520);
  CHECK(parameters("{block: {norm: {kind: none}}}") == 22'691'840);
  CHECK(parameters("{tied: true}") == 17'576'448);
}

TEST_CASE("A training's time follows from a device's peak", "[lab][torch][account]") {
  const auto account = account_of(extra_large(4288), {.batch = 1024});
  AccountView view{.device = DeviceSheet{"h100 in TF32", 495, 989.4, 3350, 80, "test"}, .steps = 400'000};
  const auto json = nlohmann::json::parse(account_json("xl", account, view));
  CHECK(json["training_seconds"].get<double>() / 3600 == Approx(4850).epsilon(1e-3));
  const auto old = account_of(extra_large(6400), {.batch = 1024});
  view.device = device_sheet("a100-80gb");
  CHECK(nlohmann::json::parse(account_json("xl", old, view))["training_seconds"].get<double>() / 86400 ==
        Approx(6584).epsilon(1e-3));
}

TEST_CASE("The cache has the heads of keys and values, their window, and MLA's latent only", "[lab][torch][account]") {
  const auto bytes = [](const std::string& attention) {
    const auto model = from_yaml<ModelConfig>(
        "{vocabulary: 32000, width: 5120, layers: 40, context: 2048, block: {attention: " + attention + "}}");
    return account_of(model, {.precision = Precision::kBfloat16});
  };
  CHECK(bytes("{heads: 40}").cache_per_token == 819'200);
  CHECK(bytes("{heads: 40, kv_heads: 8}").cache_per_token == 163'840);
  CHECK(bytes("{heads: 40}").cache == 819'200 * 2048.0);
  CHECK(bytes("{heads: 40, window: 100}").cache == 819'200 * 100.0);
  CHECK(bytes("{kind: latent, heads: 40, key_value_rank: 512, rope_width: 64}").cache_per_token == 40 * 2 * 576);
}

TEST_CASE("Decoding is bound by memory and prefill by arithmetic", "[lab][torch][account]") {
  const auto one = account_of(extra_large(4288), {});
  CHECK(one.decode.intensity() < 1);  // 2 FLOP for four bytes of a weight, and the cache
  CHECK(one.prefill.intensity() > 100);
  const auto many = account_of(extra_large(4288), {.batch = 64});
  CHECK(many.decode.flops == Approx(64 * one.decode.flops));
  CHECK(many.decode.intensity() < 10 * one.decode.intensity());  // every sequence reads a cache of its own
  const auto brief = account_of(extra_large(4288), {.context = 8});
  const auto many_brief = account_of(extra_large(4288), {.batch = 64, .context = 8});
  CHECK(many_brief.decode.intensity() > 50 * brief.decode.intensity());  // they share the weights
  const auto next = account_of(extra_large(4288), {.context = 1023, .pairs = AttentionPairs::kVisible});
  const auto all = account_of(extra_large(4288), {.pairs = AttentionPairs::kVisible});
  CHECK(all.forward.total() - next.forward.total() == Approx(one.decode.flops));
}

TEST_CASE("bfloat16 halves activations and adds copies of the matrices", "[lab][torch][account]") {
  const auto wide = account_of(extra_large(4288), {});
  const auto half = account_of(extra_large(4288), {.precision = Precision::kBfloat16});
  CHECK(half.memory.activations * 2 == wide.memory.activations);
  CHECK(half.memory.scores * 2 == wide.memory.scores);
  CHECK(half.memory.weights == wide.memory.weights);
  CHECK(half.memory.weight_copies == 2 * (1'640'452'800.0 - 50257 * 1600));
  CHECK(account_of(extra_large(4288), {.optimizer = OptimizerState::kSgd}).memory.moments == 0);
}

TEST_CASE("An update that is followed says what is there, when most is, and how large a batch may be",
          "[lab][torch][account]") {
  const auto model = extra_large(4288);
  const auto fast = account_of(model, {.batch = 4, .kept = KeptActivations::kFused});
  const auto slow = account_of(model, {.batch = 4, .kept = KeptActivations::kReference});
  CHECK_FALSE(account_of(model, {.batch = 4}).update);
  CHECK(fast.update->weights == 4 * 1'640'452'800.0);
  CHECK(fast.update->moments == 2 * fast.update->weights);
  CHECK(fast.update->peak > fast.update->weights + fast.update->moments + fast.update->kept);
  CHECK(slow.update->peak > fast.update->peak);
  const auto largest = fast.largest_update(80e9);
  const auto peak_of = [&](int64_t batch) {
    return account_of(model, {.batch = batch, .kept = KeptActivations::kFused}).update->peak;
  };
  CHECK(peak_of(largest) <= 80e9);
  CHECK(peak_of(largest + 1) > 80e9);
  CHECK(fast.largest_update(1e9) == 0);

  const auto text = account_text("xl", fast, {.memory_gb = 80});
  CHECK_THAT(text, ContainsSubstring("with this program's kernels (the batch in one part; most in the backward pass") &&
                       ContainsSubstring("largest batch in 80.00 GB") && !ContainsSubstring("scores stored"));
  const auto json = nlohmann::json::parse(account_json("xl", fast, {.memory_gb = 80}));
  CHECK(json["memory_bytes"]["peak"] == fast.update->peak);
  CHECK(json["largest_batch"]["batch"] == largest);
  CHECK_THAT(account_table({fast, slow}, {}), ContainsSubstring("training, at most"));
}

TEST_CASE("A sweep doubles or names its values", "[lab][account]") {
  CHECK(sweep_values("1024..5000") == std::vector<int64_t>{1024, 2048, 4096});
  CHECK(sweep_values("1,8,64") == std::vector<int64_t>{1, 8, 64});
  CHECK_THROWS_WITH(sweep_values("8..2"), ContainsSubstring("ends before it begins"));
  CHECK_THROWS_WITH(sweep_values("1,,2"), ContainsSubstring("give 1024..131072 or 1,2,4"));
  CHECK_THROWS_WITH(device_sheet("abacus"), ContainsSubstring("one of: v100"));
}

TEST_CASE("The text of an account names its conventions", "[lab][torch][account]") {
  const auto account = account_of(extra_large(4288), {.batch = 2});
  const auto text = account_text("xl", account, {.device = device_sheet("a100-80gb"), .steps = 100});
  for (const auto* part : {"xl: 1,640,452,800 parameters", "2 for each multiply-add of a matrix product; all pairs",
                           "one copy of the logits", "largest batch in 80.00 GB, scores stored", "decode, a token each",
                           "19.5 TFLOP/s in float32", "100 updates"}) {
    CHECK_THAT(text, ContainsSubstring(part));
  }
  const auto binary = account_text("xl", account, {.binary_units = true});
  CHECK_THAT(binary, ContainsSubstring("6.11 GiB") && !ContainsSubstring(" GB"));
}

TEST_CASE("Advice names what is unusual and the nearest published model", "[lab][torch][account]") {
  const auto json = nlohmann::json::parse(advice_json(zoo_model("gpt2-xl"), zoo()));
  CHECK(json["nearest"][0]["name"] == "gpt2-xl");
  CHECK(json["nearest"][0]["distance"] == 0);
  CHECK(json["nearest"][1]["distance"] > 0);
  const auto llama = zoo_model("llama3-8b");
  auto odd = llama;
  odd.config.model.layers = 2;
  odd.count = count_parameters(odd.config.model);
  CHECK_THAT(advice_text(odd, zoo()), ContainsSubstring("outside of what was published"));
  CHECK_THAT(advice_text(llama, zoo()), ContainsSubstring("F / D") && !ContainsSubstring("outside of"));
  // Only what was published counts: Llama 3's file says no decay, and a default is nobody's choice.
  CHECK_THAT(advice_text(llama, zoo()), !ContainsSubstring("decay"));
  auto decayed = zoo_model("olmo2-7b");
  CHECK(nlohmann::json::parse(advice_json(decayed, zoo()))["ratios"]["decay"]["verdict"] == "usual");
  std::get<AdamwConfig>(decayed.config.train.optimizer).weight_decay = 3;
  const auto outside = nlohmann::json::parse(advice_json(decayed, zoo()))["ratios"]["decay"];
  CHECK(outside["verdict"] == "outside of what was published");
  CHECK(outside["range"] == nlohmann::json::array({0.01, 0.1}));
}

}  // namespace blockzoo
