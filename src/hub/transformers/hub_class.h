#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hub/transformers/config_map.h"
#include "hub/transformers/stack.h"
#include "hub/transformers/weight_map.h"

namespace blockzoo {

/// A model class of Hugging Face transformers: all that export and import know of it.
struct HubClass {
  std::string_view name;        // in `architectures`: "LlamaForCausalLM"
  std::string_view model_type;  // in `model_type`: "llama"
  /// How the keys of config.json and the fields of a model correspond. Run with a map that reads it fills the stack,
  /// with one that writes it fills config.json.
  void (*config)(ConfigMap& map, Stack& stack) = nullptr;
  /// How the tensors correspond. Their head stands under `head` unless it is tied.
  WeightNames (*weights)(const Stack& stack) = nullptr;
  std::string_view prefix = "model.";  // what files of the model without its head leave out
  std::string_view head = "lm_head.weight";
  std::vector<std::pair<std::string, std::string>> other_names =
      {};                                 // of older or newer files, and what they mean here
  std::vector<std::string> buffers = {};  // ends of names that hold nothing learned
  std::string_view modeling_file = "";    // of classes that are not part of transformers: goes beside the weights
};

/// Every class, in the order in which export tries them. A new class is added to this list.
const std::vector<const HubClass*>& hub_classes();

}  // namespace blockzoo
