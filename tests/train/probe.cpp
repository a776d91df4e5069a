#include "blockzoo/train/probe.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "blockzoo/hub/weights.h"
#include "blockzoo/lab/probe_text.h"
#include "blockzoo/train/run.h"
#include "support/covering.h"
#include "support/golden.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

std::map<std::string, Tensor> copied(const std::map<std::string, Tensor>& tensors) {
  std::map<std::string, Tensor> copies;
  for (const auto& [name, tensor] : tensors) copies[name] = tensor.clone();
  return copies;
}

void check_same_bits(const std::map<std::string, Tensor>& a, const std::map<std::string, Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& [name, tensor] : a) {
    INFO(name);
    CHECK(at::equal(tensor, b.at(name)));
  }
}

const LayerProbe& layer_named(const Probe& probe, const std::string& name) {
  const auto found =
      std::find_if(probe.layers.begin(), probe.layers.end(), [&](const auto& layer) { return layer.name == name; });
  REQUIRE(found != probe.layers.end());
  return *found;
}

/// Ids as a corpus whose only window they are.
TokensConfig only_window(const TemporaryFolder& folder, const std::vector<int64_t>& ids, int64_t vocabulary) {
  std::ofstream train(folder / "train.bin", std::ios::binary), validation(folder / "validation.bin", std::ios::binary);
  const auto write = [](std::ofstream& file, int64_t id) {
    const auto value = static_cast<uint16_t>(id);
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const auto id : ids) write(train, id);
  for (const auto id : ids) write(validation, (id + 1) % vocabulary);
  return {.path = (folder / "train.bin").string(),
          .validation = PathValidationConfig{.path = (folder / "validation.bin").string()},
          .dtype = TokenType::kUint16,
          .vocabulary = vocabulary,
          .bytes_per_token = {}};
}

/// The covering model as a run of a few tokens, with dropout as it has it.
RunConfig run_of(const ModelConfig& model) {
  auto config = tiny_run();
  config.model = model;
  config.model.vocabulary = 256;
  config.train.steps = 3;
  return config;
}

}  // namespace

TEST_CASE("A probe sees what PyTorch sees, layer by layer", "[train][probe][torch][golden]") {
  const auto file = golden("probe");
  const auto& settings = file["settings"];
  for (const auto& one : file["cases"]) {
    for (const auto kernels : {Kernels::kFast, Kernels::kReference}) {
      INFO(one["name"] << ", " << name_of(kernels) << " kernels");
      const TemporaryFolder folder;
      auto config = tiny_run();
      config.model = from_yaml<ModelConfig>(one["config"].dump());
      config.data.corpus = only_window(folder, one["tokens"].get<std::vector<int64_t>>(), config.model.vocabulary);
      config.train.batch = 1;
      config.train.kernels = kernels;
      config.train.clip = settings["clip"];
      config.train.optimizer = AdamwConfig{.lr = settings["lr"],
                                           .beta1 = settings["beta1"],
                                           .beta2 = settings["beta2"],
                                           .eps = settings["eps"],
                                           .weight_decay = settings["weight_decay"]};
      Session session(config);
      fill_with_ramp(*session.model());
      const auto seen = probe(session);
      CHECK(seen.loss == Approx(one["loss"].get<double>()).epsilon(1e-5));
      CHECK(seen.mean_log_z == Approx(one["mean_log_z"].get<double>()).epsilon(1e-5));
      CHECK(seen.layers.size() == one["layers"].size());
      for (const auto& [name, figures] : one["layers"].items()) {
        const auto& layer = layer_named(seen, name);
        const auto check = [&](const char* key, const std::optional<double>& value) {
          INFO(name << ", " << key);
          CHECK(value.has_value() == figures.contains(key));
          if (value && figures.contains(key)) CHECK(*value == Approx(figures[key].get<double>()).epsilon(1e-4));
        };
        check("activation_rms", layer.activation_rms);
        check("gradient_norm", layer.gradient_norm);
        check("update_ratio", layer.update_ratio);
        check("attention_logit_max", layer.attention_logit_max);
        check("attention_entropy", layer.attention_entropy);
        check("dead_units", layer.dead_units);
      }
    }
  }
}

TEST_CASE("The update that a probe foresees is the one that is made, and it leaves the session as it was",
          "[train][probe][torch]") {
  auto config = tiny_run();
  config.model.block.dropout = 0.2;
  config.train.schedule = CosineSchedule{.warmup = 4};
  config.train.accumulation = GENERATE(1, 2);
  Session session(config);
  for (int i = 0; i < 3; ++i) session.advance();
  const auto hash = session.batches_hash();
  const auto tokens = session.tokens_seen();
  const auto weights = copied(weights_of(*session.model())), moments = copied(session.optimizer().state());
  const auto foreseen = session.next_update();
  check_same_bits(weights, weights_of(*session.model()));
  check_same_bits(moments, session.optimizer().state());
  CHECK(session.batches_hash() == hash);
  CHECK(session.tokens_seen() == tokens);
  CHECK(session.model()->is_training());

  const auto made = session.advance(/*by_layer=*/true);
  CHECK(made.gradient_norm == foreseen.gradient_norm);
  CHECK(made.gradient_norms == foreseen.gradient_norms);
  double change = 0, size = 0;
  for (const auto& [name, after] : weights_of(*session.model())) {
    if (!name.starts_with("blocks.1.")) continue;
    change += (after.to(at::kDouble) - weights.at(name)).square().sum().item<double>();
    size += weights.at(name).to(at::kDouble).square().sum().item<double>();
  }
  CHECK(foreseen.update_ratios.at("blocks.1") == Approx(std::sqrt(change / size)));
  CHECK(change > 0);
}

TEST_CASE("Probing changes no bit of what is trained, for any two values of the zoo",
          "[train][probe][covering][slow][torch]") {
  for (const auto& [name, model] : covering_models()) {
    INFO(name);
    Session plain(run_of(model)), probed(run_of(model));
    for (int step = 0; step < 3; ++step) {
      const auto seen = probe(probed);
      CHECK(seen.layers.size() >= 4);
      for (const auto* block : {"blocks.0", "blocks.1"}) {
        const auto layer = layer_named(seen, block);
        REQUIRE((layer.activation_rms && layer.gradient_norm && layer.update_ratio));
        REQUIRE((layer.attention_logit_max && layer.attention_entropy && layer.dead_units));
        CHECK(*layer.attention_entropy >= 0);
        CHECK(*layer.attention_entropy <= std::log(12.0));
      }
      CHECK(plain.advance().loss == probed.advance().loss);
    }
    check_same_bits(weights_of(*plain.model()), weights_of(*probed.model()));
    check_same_bits(plain.optimizer().state(), probed.optimizer().state());
    CHECK(plain.batches_hash() == probed.batches_hash());
  }
}

TEST_CASE("A run with probes has the identity, losses and weights of one without, and they survive a resume",
          "[train][probe][torch]") {
  const TemporaryFolder folder;
  const auto plain_config = tiny_run();
  auto config = plain_config;
  config.train.probe_every = 3;
  config.train.save_every = 4;
  CHECK(identity(config) == identity(plain_config));
  const auto options = [&](const char* name) { return RunOptions{.folder = folder / name, .talk = Talk::kQuiet}; };
  const auto plain = run_training(plain_config, options("plain"));
  const auto probed = run_training(config, options("probed"));
  CHECK(plain.validation->window_losses == probed.validation->window_losses);
  CHECK(plain.batches_hash == probed.batches_hash);
  const auto probes = recorded_probes(folder / "probed");
  REQUIRE(probes.size() == 4);
  CHECK(probes[0].step == 0);
  CHECK(probes[1].step == 3);
  CHECK(probes[3].step == 8);
  CHECK(recorded_probes(folder / "plain").empty());

  // What a later look at the checkpoints finds is what the run saw.
  const auto later = probe_checkpoints(folder / "probed", config);
  REQUIRE(later.size() == 3);  // start, 4, 8
  CHECK(probe_line(later[0]) == probe_line(probes[0]));
  CHECK(probe_line(later[2]) == probe_line(probes[3]));
  CHECK(probe_line(*probe_from_line(probe_line(probes[1]))) == probe_line(probes[1]));
  CHECK_FALSE(probe_from_line(R"({"step":3,"loss":2})"));
}

TEST_CASE("Growth over depth is the slope in logarithms", "[train][probe]") {
  Probe made;
  made.layers.push_back({.name = "embedding", .activation_rms = 0.5});
  for (int l = 1; l <= 6; ++l)
    made.layers.push_back({.name = "blocks." + std::to_string(l - 1),
                           .activation_rms = 2 * std::pow(l, 0.7),
                           .gradient_norm = 3 * std::pow(l, -0.25)});
  made.layers.push_back({.name = "head", .gradient_norm = 9.0});
  CHECK(*made.activation_growth() == Approx(0.7));
  CHECK(*made.gradient_growth() == Approx(-0.25));
  CHECK(*made.activation_growth_per_layer() == Approx(std::log(2 * std::pow(6, 0.7) / 0.5) / 6));
  made.layers[3].gradient_norm = 0;
  CHECK_FALSE(made.gradient_growth());
  CHECK_FALSE(Probe{}.activation_growth());
  CHECK_FALSE(Probe{}.activation_growth_per_layer());
}

TEST_CASE("Post-norm's gradients grow with depth before the first update and pre-norm's do not",
          "[train][probe][torch]") {
  // Xiong et al. 2020, arXiv:2002.04745, figure 3: six layers, Glorot start values.
  const auto growth_of = [](LayoutConfig layout) {
    auto config = tiny_run();
    config.model.width = 96;
    config.model.context = 64;
    config.model.layers = 6;
    config.model.block.layout = layout;
    config.model.block.norm = LayerNormConfig{};
    config.model.block.ffn = MlpConfig{{}, Activation::kRelu, false};
    config.model.init.matrices = GlorotInit{};
    config.model.init.head = GlorotInit{};
    config.model.init.depth_scaled_outputs = false;
    Session session(config);
    return probe(session);
  };
  const auto post = growth_of(PostNormConfig{}), pre = growth_of(PreNormConfig{});
  CHECK(*post.gradient_growth() > 0);
  CHECK(*pre.gradient_growth() < -0.3);
  CHECK(std::abs(*post.activation_growth()) < 1e-3);  // every block ends in a norm
  CHECK(*pre.activation_growth() > 0.2);
}

TEST_CASE("Hidden units that no token switches on are dead", "[train][probe][torch]") {
  auto config = tiny_run();
  const auto activation = GENERATE(Activation::kRelu, Activation::kSilu);
  config.model.block.ffn = MlpConfig{{.hidden = 16}, activation, true};
  Session session(config);
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : session.model()->named_parameters()) {
      if (parameter.key() == "blocks.1.ffn.up.bias") parameter.value().slice(0, 0, 4).fill_(-1e4);
    }
  }
  const auto seen = probe(session);
  CHECK(*layer_named(seen, "blocks.1").dead_units == 0.25);
  CHECK(*layer_named(seen, "blocks.0").dead_units < 0.25);
}

TEST_CASE("The text of a probe has a line a layer, says how it grows, and spreads what it shows",
          "[lab][probe][torch]") {
  Session session(tiny_run());
  auto seen = probe(session);
  const auto text = probe_text({seen});
  for (const auto* part : {"before the first update: loss 5.5", "embedding", "blocks.1", "final_norm", "head",
                           "slope of ln(rms) over ln(l)", "gradient norms go as l^"})
    CHECK_THAT(text, ContainsSubstring(part));
  std::vector<Probe> many;
  for (int i = 0; i < 9; ++i) {
    seen.step = 10 * i;
    many.push_back(seen);
  }
  const auto spread = probe_text(many);
  CHECK_THAT(spread, ContainsSubstring("after step 20:") && ContainsSubstring("after step 80:") &&
                         !ContainsSubstring("after step 10:") && ContainsSubstring("5 of 9 probes are shown"));
  CHECK(nlohmann::json::parse(probe_json(many))["probes"].size() == 9);
}

}  // namespace blockzoo
