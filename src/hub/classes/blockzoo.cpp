#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/nn/parameter.h"
#include "core/reader.h"
#include "core/writer.h"
#include "hub/classes/parts.h"

// Our own modelling file, assets/hub/modeling_blockzoo.py: it holds every model, under our own names.

namespace blockzoo {
namespace {

using Json = ConfigMap::Json;

Json json_of(const Tree& tree) {
  if (tree.is_map()) {
    auto map = Json::object();
    for (const auto& [key, value] : tree.entries) map[key] = json_of(value);
    return map;
  }
  if (tree.is_list()) {
    auto list = Json::array();
    for (const auto& item : tree.items) list.push_back(json_of(item));
    return list;
  }
  if (tree.quoted) return tree.text;
  if (const auto answer = parse_bool(tree.text)) return *answer;
  if (const auto whole = parse_integer(tree.text); whole && tree.text.find_first_of(".eE") == std::string::npos)
    return *whole;
  if (const auto number = parse_number(tree.text)) return *number;
  return tree.text;
}

/// Deep enough for every config, and no deeper.
constexpr int kDeepest = 16;

Tree tree_of(const Json& json, int depth = 0) {
  if (depth > kDeepest) throw CannotHold("blockzoo", "is nested too deeply");
  if (json.is_object()) {
    Tree map = Tree::map();
    for (const auto& [key, value] : json.items()) map[key] = tree_of(value, depth + 1);
    return map;
  }
  if (json.is_array()) {
    Tree list = Tree::list();
    for (const auto& item : json) list.items.push_back(tree_of(item, depth + 1));
    return list;
  }
  if (json.is_string()) return Tree::scalar(json.get<std::string>());
  if (json.is_number_float()) return Tree::scalar(write_number(json.get<double>()));
  return json.is_null() ? Tree{} : Tree::scalar(json.dump());
}

void blockzoo_config(ConfigMap& map, Stack& stack) {
  if (map.reading()) {
    const auto* given = map.find("blockzoo");
    if (given == nullptr) throw CannotHold("blockzoo", "is missing");
    stack = stack_of(read_config<ModelConfig>(tree_of(*given)));
  } else {
    map.put("auto_map") = {{"AutoConfig", "modeling_blockzoo.BlockzooConfig"},
                           {"AutoModelForCausalLM", "modeling_blockzoo.BlockzooForCausalLM"}};
    map.put("vocab_size") = stack.model.vocabulary;
    map.put("hidden_size") = stack.model.width;
    map.put("num_hidden_layers") = stack.model.layers;
    map.put("max_position_embeddings") = stack.model.context;
    map.put("tie_word_embeddings") = stack.model.tied;
    map.put("blockzoo") = json_of(to_tree(model_of(stack)));
  }
  map.without_effect(
      {"auto_map", "vocab_size", "hidden_size", "num_hidden_layers", "max_position_embeddings", "tie_word_embeddings"});
}

WeightNames blockzoo_names(const Stack& stack) {
  const BornOn meta(at::kMeta);
  WeightNames names;
  for (const auto& [name, tensor] : weights_of(*Model(model_of(stack)))) {
    if (name != "head.weight") names.push_back({name, {name}});
  }
  return names;
}

}  // namespace

const HubClass& blockzoo_class() {
  static const HubClass description{.name = "BlockzooForCausalLM",
                                    .model_type = "blockzoo",
                                    .config = blockzoo_config,
                                    .weights = blockzoo_names,
                                    .prefix = "",
                                    .head = "head.weight",
                                    .modeling_file = "modeling_blockzoo.py"};
  return description;
}

}  // namespace blockzoo
