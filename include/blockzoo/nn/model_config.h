#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blockzoo/core/tree.h"
#include "blockzoo/nn/block.h"
#include "blockzoo/nn/init.h"
#include "blockzoo/nn/scale.h"

namespace blockzoo {

/// Some layers and what is different in them. `block` is laid over the model's block, key by key.
struct LayerOverride {
  Tree layers;
  Tree block;

  static void fields(auto& self, auto& visit) {
    visit("layers", self.layers, "layer numbers as a list [0, 3], or as start:stop:step, such as '3::4' or '-1:'");
    visit("block", self.block, "keys of the block that differ there");
  }
};

/// A decoder-only transformer.
struct ModelConfig {
  int64_t vocabulary = 256;
  int64_t width = 128;
  int64_t layers = 4;
  int64_t context = 128;
  std::optional<int64_t> embedding_width;
  ScaleConfig embedding_scale;
  NormConfig embedding_norm = NoNormConfig{};
  double embedding_dropout = 0;
  int64_t layer_embedding_width = 0;
  BlockConfig block;
  std::vector<LayerOverride> overrides;
  std::optional<NormConfig> final_norm;
  bool tied = false;
  bool head_bias = false;
  ScaleConfig logit_scale;
  double final_softcap = 0;
  InitConfig init;

  static constexpr Bound layer_count{.low = 1, .high = 4096, .allowed = "from 1 to 4096"};
  static constexpr Bound id_count{.low = 1, .high = 4294967296, .allowed = "from 1 to 4294967296"};

  static void fields(auto& self, auto& visit) {
    visit("vocabulary", self.vocabulary, id_count, "token ids V; 256 for bytes");
    visit("width", self.width, tensor_size, "model width D");
    visit("layers", self.layers, layer_count, "blocks in the stack");
    visit("context", self.context, tensor_size, "longest sequence, tokens");
    visit("embedding_width", self.embedding_width, tensor_size,
          "width of the token table; auto is width; else projections stand between (OPT-350M)");
    visit("embedding_scale", self.embedding_scale, "factor of the token embedding");
    visit("embedding_norm", self.embedding_norm, "norm after the embedding (BLOOM)");
    visit("embedding_dropout", self.embedding_dropout, dropout_rate, "share of the embedding dropped in training");
    visit("layer_embedding_width", self.layer_embedding_width, tensor_size_or_none,
          "channels of a further embedding that every layer has of each token; 0 means none (Gemma 3n, Gemma 4)");
    visit("block", self.block, "every layer, unless overridden");
    visit("overrides", self.overrides, "layers that differ, later entries last: [{layers: '3::4', block: {...}}]");
    visit("final_norm", self.final_norm, "norm before the head; auto is the block's norm");
    visit("tied", self.tied, "the head is the token table");
    visit("head_bias", self.head_bias, "the head has a bias");
    visit("logit_scale", self.logit_scale, "factor of the logits");
    visit("final_softcap", self.final_softcap, not_negative, "logits become c tanh(logits / c); 0 means off");
    visit("init", self.init, "start values");
  }
  static void rules(const auto& self, auto& expect) {
    for (const auto& problem : problems_of(self)) expect(false, problem.path, problem.message);
  }
};

/// What is wrong between the fields of a model, if anything; paths start at the model.
std::vector<Problem> problems_of(const ModelConfig& config);

/// One block for every layer, overrides applied. Throws ConfigError when problems_of would name any.
std::vector<BlockConfig> expand_layers(const ModelConfig& config);

/// For each layer the one whose keys and values it reuses: the last before it that has its own, of equal attention and
/// position. Nothing where a layer has its own, or where there is no such layer.
std::vector<std::optional<size_t>> key_value_sources(const std::vector<BlockConfig>& layers);

/// What makes `layers` of a stack of `block`: what differs, written out, with the numbers of the layers.
std::vector<LayerOverride> overrides_from(const BlockConfig& block, const std::vector<BlockConfig>& layers);

/// The same model with every `auto` replaced by what it stands for.
ModelConfig resolved(const ModelConfig& config);

/// The `model:` section of a run file, laid over that of its `base` files; `sets` ("model.layers=2") come last. Other
/// sections are left alone. Throws ConfigError with every problem.
ModelConfig load_model_config(const std::filesystem::path& path, const std::vector<std::string>& sets = {});

}  // namespace blockzoo
