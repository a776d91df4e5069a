#include "blockzoo/hub/weights.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "blockzoo/hub/safetensors.h"
#include "hub/files.h"
#include "support/catch.h"

using Catch::Matchers::ContainsSubstring;

namespace blockzoo::test {

namespace {

struct Inner : torch::nn::Module {
  explicit Inner(at::ScalarType type) {
    weight = register_parameter("weight", at::arange(6, at::kFloat).reshape({2, 3}).to(type));
    bias = register_parameter("bias", at::arange(2, at::kFloat).to(type));
  }
  at::Tensor weight, bias;
};

struct Outer : torch::nn::Module {
  explicit Outer(at::ScalarType type = at::kFloat) {
    gain = register_parameter("gain", at::ones({3}));
    first = register_module("first", std::make_shared<Inner>(type));
    second = register_module("second", std::make_shared<Inner>(type));
    register_buffer("mask", at::ones({4}));
  }
  at::Tensor gain;
  std::shared_ptr<Inner> first, second;
};

void fill(Outer& module, double value) {
  const at::NoGradGuard no_grad;
  for (auto& parameter : module.parameters()) parameter.fill_(value);
}

bool filled(const Outer& module, double value) {
  for (const auto& parameter : module.parameters()) {
    if (!parameter.eq(value).all().item<bool>()) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("weights that were saved load into an equal module", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "weights.safetensors";
  const Outer saved;
  save_weights(saved, path, {{"arm", "pre_norm"}});
  const SafetensorsFile file(path);
  REQUIRE(file.metadata() == std::map<std::string, std::string>{{"arm", "pre_norm"}, {"format", "pt"}});
  REQUIRE(file.tensors().size() == 5);  // no buffers

  Outer loaded;
  fill(loaded, -1);
  const auto place = loaded.first->weight.data_ptr();
  load_weights(loaded, path);
  for (const auto& item : saved.named_parameters()) {
    INFO(item.key());
    REQUIRE(at::equal(item.value(), loaded.named_parameters()[item.key()]));
  }
  REQUIRE(loaded.first->weight.data_ptr() == place);
  REQUIRE(loaded.first->weight.requires_grad());
  REQUIRE(loaded.first->weight.is_leaf());
}

TEST_CASE("floating-point weights convert to the type of the parameter", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "weights.safetensors";
  for (const auto from : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const auto to : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16}) {
      save_weights(Outer(from), path);
      Outer loaded(to);
      fill(loaded, -1);
      load_weights(loaded, path);
      REQUIRE(loaded.first->weight.scalar_type() == to);
      REQUIRE(at::equal(loaded.first->weight.to(at::kFloat), at::arange(6, at::kFloat).reshape({2, 3})));
    }
  }
}

TEST_CASE("weights that do not fit are refused all at once and nothing changes", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "weights.safetensors";
  save_safetensors(path, {{"gain", at::zeros({3}, at::kLong)},
                          {"first.weight", at::zeros({3, 2})},
                          {"first.bias", at::zeros({2})},
                          {"second.weight", at::zeros({6})},
                          {"mask", at::zeros({4})},
                          {"third.bias", at::zeros({2}, at::kHalf)}});
  Outer module;
  fill(module, 7);
  const auto from_file = error_of([&] { load_weights(module, path); });
  REQUIRE(filled(module, 7));
  REQUIRE(from_file == path.string() +
                           " does not fit the model; nothing was loaded:"
                           "\n  wrong shape: first.weight is Float [3, 2], the model needs Float [2, 3]"
                           "\n  wrong type: gain is Long [3], the model needs Float [3]"
                           "\n  missing: second.bias Float [2]"
                           "\n  wrong shape: second.weight is Float [6], the model needs Float [2, 3]"
                           "\n  unexpected: mask Float [4]"
                           "\n  unexpected: third.bias Half [2]");
  const auto from_memory = error_of([&] { load_weights(module, load_safetensors(path), path.string()); });
  REQUIRE(from_memory == from_file);
  REQUIRE(filled(module, 7));
}

TEST_CASE("weights load in full or not at all when the file is torn", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "weights.safetensors";
  save_weights(Outer(), path);
  const auto size = std::filesystem::file_size(path);
  Outer module;
  fill(module, 7);
  for (uintmax_t cut = 0; cut < size; cut += 7) {
    std::filesystem::copy_file(path, folder / "torn", std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(folder / "torn", cut);
    REQUIRE_THAT(error_of([&] { load_weights(module, folder / "torn"); }), ContainsSubstring("torn: "));
    REQUIRE(filled(module, 7));
  }
}

}  // namespace blockzoo::test
