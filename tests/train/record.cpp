#include "blockzoo/train/record.h"

#include <nlohmann/json.hpp>

#include "blockzoo/core/build_info.h"
#include "blockzoo/nn/flops.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/train/run.h"
#include "support/catch.h"
#include "support/from_yaml.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"
#include "train/machine.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A run's record has the operations of its updates and says how they are counted", "[train][record][torch]") {
  const TemporaryFolder folder;
  const auto record = run_training(tiny_run(), {.folder = folder / "run", .talk = Talk::kQuiet});
  REQUIRE(record.training_flops);
  CHECK(*record.training_flops == 3.0 * 8 * 4 * forward_flops(tiny_run().model, 24).total());
  const auto json = nlohmann::json::parse(to_json(read_record(folder / "run")));
  CHECK(json["training_flops"] == *record.training_flops);
  CHECK_THAT(json["training_flops_convention"].get<std::string>(), ContainsSubstring("3 x forward"));
  const auto& parts = record.parameters_by_part;
  CHECK(json["parameters_without_embeddings"] == parts.at("attention") + parts.at("ffn") + parts.at("norms"));
}

TEST_CASE("A record of the same schema that does not say a run's operations is still read", "[train][record][torch]") {
  RunRecord record;
  record.parameters = 70;
  record.parameters_by_part = {{"embedding", 40}, {"ffn", 30}};
  record.training_flops = 5e20;
  CHECK(record_from_json(to_json(record)).training_flops == 5e20);
  auto old = nlohmann::ordered_json::parse(to_json(record));
  for (const auto* key : {"training_flops", "training_flops_convention", "parameters_without_embeddings"})
    CHECK(old.erase(key) == 1);
  const auto read = record_from_json(old.dump());
  CHECK_FALSE(read.training_flops);
  CHECK(without_embeddings(read.parameters_by_part) == 30);
  CHECK_THAT(to_json(read), !ContainsSubstring("training_flops"));
}

TEST_CASE("A record says its machine and build, and keeps those of the run when it is read", "[train][record][torch]") {
  const TemporaryFolder folder;
  const auto run = run_training(tiny_run(), {.folder = folder / "run", .talk = Talk::kQuiet});
  CHECK(run.machine == machine());
  CHECK_THAT(run.built_with(), ContainsSubstring("LibTorch " + build_info().libtorch));
  auto elsewhere = run;
  elsewhere.machine = "another";
  elsewhere.build.commit = "0123456789ab";
  const auto read = record_from_json(to_json(elsewhere));
  CHECK(read.machine == "another");
  CHECK_THAT(read.built_with(), ContainsSubstring("commit 0123456789ab"));
  auto old = nlohmann::ordered_json::parse(to_json(run));
  CHECK(old.erase("machine") == 1);
  CHECK(record_from_json(old.dump()).machine.empty());
  CHECK(RunRecord{}.built_with().empty());
}

TEST_CASE("Parameters without embeddings are those that Pythia publishes", "[train][record][torch]") {
  const auto pythia = [](int64_t layers, int64_t width) {
    auto config = from_yaml<ModelConfig>(
        "{vocabulary: 50304, context: 2048, block: {layout: {kind: parallel_two_norms}, norm: {kind: layer_norm}, "
        "position: {kind: rope, rotary_fraction: 0.25}, attention: {heads: 8, query_bias: true, key_bias: true, "
        "value_bias: true, output_bias: true}, ffn: {kind: mlp, bias: true}}}");
    config.layers = layers;
    config.width = width;
    return config;
  };
  const auto small = count_parameters(pythia(6, 512));
  CHECK(small.total == 70426624);
  CHECK(without_embeddings(small.by_part) == 18915328);
  CHECK(without_embeddings(count_parameters(pythia(16, 2048)).by_part) == 805736448);
  auto tied = pythia(6, 512);
  tied.tied = true;
  CHECK(without_embeddings(count_parameters(tied).by_part) == 18915328);
}

}  // namespace blockzoo
