#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "blockzoo/hub/hugging_face.h"
#include "hub/transformers/hub_class.h"

namespace blockzoo {

/// A class that holds a model exactly: its config.json reads back to the same model.
struct HubChoice {
  const HubClass* hub = nullptr;
  ConfigMap::Json config;
  Stack stack;                         // as the class has it
  std::optional<RopePairing> pairing;  // set when rows of queries and keys change their order
};

/// The first class that holds the model: one of transformers itself, or else our own. `why_not` says which of the
/// former comes nearest, and what it cannot hold; empty when one holds it.
HubChoice choose_class(const Stack& stack, std::string& why_not);

/// The class's names for such a model, its head included.
WeightNames weight_names(const HubClass& hub, const Stack& stack);

/// What a config.json says.
struct HubConfig {
  const HubClass* hub = nullptr;
  Stack stack;
  std::vector<std::string> defaults;  // "rope_theta 10000.0": what was absent and has an effect
  SpecialIds special_ids = {};
};

/// bos_token_id, eos_token_id, pad_token_id.
inline constexpr std::array<const char*, 3> kSpecialIds{"bos_token_id", "eos_token_id", "pad_token_id"};

/// Errors: std::runtime_error that starts with `source` and names every problem or the first key that cannot be held.
HubConfig read_hub_config(const std::string& text, const std::string& source);

}  // namespace blockzoo
