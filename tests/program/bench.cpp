#include <nlohmann/json.hpp>
#include <set>

#include "blockzoo/hub/safetensors.h"
#include "support/near.h"
#include "support/program.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

/// blockzoo bench on a tiny model with these arguments, and what it printed.
std::string bench_output(const TemporaryFolder& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"bench", "models/tiny.yaml", "--steps", "2"};
  for (const auto* set : {"model.width=16", "model.layers=1", "model.context=24", "train.batch=4", "train.device=cpu",
                          "model.block.attention.heads=2", "train.threads=1"}) {
    all.emplace_back("--set");
    all.emplace_back(set);
  }
  all.insert(all.end(), arguments.begin(), arguments.end());
  Program program(folder.path(), all);
  const int code = program.wait();
  INFO(program.error());
  REQUIRE(code == 0);
  return program.out();
}

}  // namespace

TEST_CASE("blockzoo bench names every operator's time once, and FLOPs by the one convention", "[program][torch]") {
  const TemporaryFolder folder;
  const auto json = nlohmann::json::parse(bench_output(folder, {"--json"}));
  CHECK(json.at("losses").size() == 2);
  CHECK(json.at("steps_s").size() == 2);
  CHECK(json.at("tokens_per_step") == 4 * 24);
  CHECK(json.at("product_flops_per_s") > 0);
  CHECK(json.at("bytes_per_s") > 0);
  double flops = 0;
  std::set<std::string> kinds;
  for (const auto& kind : json.at("kinds")) {
    flops += kind.at("flops").get<double>();
    CHECK(kind.at("seconds") > 0);
    CHECK(kinds.insert(kind.at("name")).second);
  }
  CHECK(flops == Approx(json.at("flops_per_step").get<double>()));
  double of_classes = 0, of_kinds = 0;
  for (const auto& of_class : json.at("classes")) of_classes += of_class.at("flops").get<double>();
  for (const auto& kind : json.at("kinds"))
    of_kinds += kind.at("flops").get<double>() + kind.at("other_flops").get<double>();
  CHECK(of_classes == Approx(of_kinds));
  CHECK(json.at("peak_bytes") > 0);
  for (const auto* kind : {"matrix products", "attention", "norms", "activations and gates", "positions", "loss",
                           "optimizer", "embedding"})
    CHECK(kinds.count(kind) == 1);
  const auto text = bench_output(folder, {});
  for (const auto* words : {"tokens/s", "% FLOPs", "new MiB", "contractions", "normalisation", "element-wise"})
    CHECK_THAT(text, ContainsSubstring(words));
}

TEST_CASE("A fused operator of one kind is called as often as the model has it", "[program][torch]") {
  const TemporaryFolder folder;
  const auto calls = [&](const std::string& kernels) {
    const auto json = nlohmann::json::parse(bench_output(folder, {"--json", "--set", "train.kernels=" + kernels}));
    std::map<std::string, double> result;
    for (const auto& kind : json.at("kinds")) result[kind.at("name")] = kind.at("calls");
    return result;
  };
  auto fast = calls("fast"), reference = calls("reference");
  // Of one layer: a forward, a backward, and the engine's call of that. Queries and keys turn.
  for (const auto* kind : {"attention", "activations and gates", "loss"}) CHECK(fast[kind] == 3);
  CHECK(fast["positions"] == 2 * 3);
  CHECK(fast["sums, casts and copies"] < reference["sums, casts and copies"]);
}

TEST_CASE("A softmax that stands alone is a kind of its own", "[program][torch]") {
  const TemporaryFolder folder;
  const auto json = nlohmann::json::parse(bench_output(
      folder, {"--json", "--set", "train.kernels=reference", "--set", "model.block.attention.softcap=50"}));
  std::map<std::string, nlohmann::json> kinds;
  for (const auto& kind : json.at("kinds")) kinds[kind.at("name")] = kind;
  CHECK(kinds.count("attention") == 0);
  CHECK(kinds.at("softmax").at("other_flops") == 4 * 2 * 24 * 24 * (6 + 5 + 6));
  CHECK(kinds.at("matrix products").at("flops") == json.at("flops_per_step"));
}

TEST_CASE("blockzoo bench gives another program the start values and batches of the run", "[program][torch]") {
  const TemporaryFolder folder;
  bench_output(folder, {"--inputs", "inputs.safetensors"});
  const auto tensors = load_safetensors(folder / "inputs.safetensors");
  CHECK(tensors.at("batches.inputs").sizes() == at::IntArrayRef{2, 4, 24});
  CHECK(at::equal(tensors.at("batches.targets").slice(2, 0, 23), tensors.at("batches.inputs").slice(2, 1)));
  CHECK(tensors.count("blocks.0.ffn.up.weight") == 1);
}

TEST_CASE("blockzoo bench --explain says what was chosen here, and warns of cores that rest", "[program][torch]") {
  const TemporaryFolder folder;
  const auto text = bench_output(folder, {"--explain"});
  CHECK_THAT(text, ContainsSubstring("kernels: fast (products by ") && ContainsSubstring("weight gradient"));
  CHECK_THAT(text, ContainsSubstring("GFLOP/s, float32\n"));
  const auto half = bench_output(folder, {"--explain", "--set", "train.precision=bfloat16"});
  CHECK_THAT(half, ContainsSubstring("LibTorch  widened     rows  GFLOP/s, bfloat16\n"));
  const bool others_rest = text.find("threads: 1 of 1 cores") == std::string::npos;
  CHECK((text.find("warning: train.threads is 1") != std::string::npos) == others_rest);
}

}  // namespace blockzoo
