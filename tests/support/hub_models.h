#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/hugging_face.h"
#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/model.h"
#include "core/reader.h"
#include "support/ramp.h"

namespace blockzoo {

/// A model whose every parameter has a value of its own.
inline LoadedModel filled_model(const ModelConfig& config) {
  Model model(config);
  fill_with_ramp(*model);
  return {config, weights_of(*model)};
}

/// A small model: three layers of width 16 over 37 ids, with `more` laid over it.
inline LoadedModel small_model(const std::string& more) {
  const auto base =
      parse_yaml("{vocabulary: 37, width: 16, layers: 3, context: 24, block: {attention: {heads: 4}}}", "test");
  return filled_model(read_config<ModelConfig>(overlay(base, parse_yaml(more, "test"))));
}

inline nlohmann::json config_of(const std::filesystem::path& folder) {
  return nlohmann::json::parse(read_file(folder / "config.json"));
}

}  // namespace blockzoo
