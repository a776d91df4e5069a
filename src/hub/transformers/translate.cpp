#include "hub/transformers/translate.h"

#include <algorithm>
#include <set>

#include "blockzoo/core/config_error.h"
#include "hub/safetensors_header.h"
#include "hub/transformers/rotary_rows.h"

namespace blockzoo {
namespace {

using Json = ConfigMap::Json;

constexpr auto kWithoutEffect = {"architectures",
                                 "model_type",
                                 "transformers_version",
                                 "dtype",
                                 "torch_dtype",
                                 "use_cache",
                                 "initializer_range",
                                 "bos_token_id",
                                 "eos_token_id",
                                 "pad_token_id",
                                 "id2label",
                                 "label2id",
                                 "num_labels",
                                 "problem_type",
                                 "task_specific_params",
                                 "output_attentions",
                                 "output_hidden_states",
                                 "return_dict",
                                 "chunk_size_feed_forward",
                                 "_name_or_path",
                                 "attn_implementation",
                                 "_attn_implementation_autoset"};

/// The model that a config.json of the class describes.
Stack read(const HubClass& hub, ConfigMap& map) {
  for (const auto* key : kWithoutEffect) map.without_effect({key});
  map.always("is_encoder_decoder", false);
  map.always("add_cross_attention", false);
  Stack stack;
  stack.model = ModelConfig{};
  hub.config(map, stack);
  map.refuse_unknown();
  return stack_of(model_of(stack));
}

Json write(const HubClass& hub, Stack stack) {
  ConfigMap map;
  map.put("architectures") = Json::array({std::string(hub.name)});
  map.put("model_type") = std::string(hub.model_type);
  for (const auto* key : kSpecialIds) map.put(key) = nullptr;
  hub.config(map, stack);
  return map.json();
}

std::string shown(const Difference& difference) {
  return difference.path + ", which is " + difference.before + " (it would read back as " + difference.after + ")";
}

/// Fields that differ; one that differs in several layers counts once.
size_t fields_in(const std::vector<Difference>& found) {
  std::set<std::string> fields;
  for (const auto& difference : found) {
    const auto& path = difference.path;
    const bool of_layer = path.starts_with("layers.");
    fields.insert(of_layer ? "block" + path.substr(path.find('.', std::string("layers.").size())) : path);
  }
  return fields.size();
}

/// Why a class does not hold a model, and how far it is from it.
struct Attempt {
  std::optional<HubChoice> choice;
  std::string reason = "";
  size_t differences = SIZE_MAX;
};

Attempt attempt(const HubClass& hub, const Stack& stack) {
  try {
    auto config = write(hub, stack);
    ConfigMap map(config);
    auto back = read(hub, map);
    const auto found = all_differences(stack, back);
    if (!found.empty()) return {std::nullopt, shown(found.front()), fields_in(found)};
    return {HubChoice{.hub = &hub, .config = std::move(config), .stack = std::move(back), .pairing = std::nullopt}};
  } catch (const std::runtime_error& problem) {  // CannotHold or ConfigError
    return {std::nullopt, problem.what()};
  }
}

}  // namespace

HubChoice choose_class(const Stack& stack, std::string& why_not) {
  std::vector<std::pair<Stack, std::optional<RopePairing>>> forms{{stack, std::nullopt}};
  for (const auto pairing : {RopePairing::kHalf, RopePairing::kInterleaved}) {
    if (auto other = with_pairing(stack, pairing)) forms.emplace_back(std::move(*other), pairing);
  }
  why_not.clear();
  size_t nearest = SIZE_MAX;
  for (const auto& [form, pairing] : forms) {
    for (const auto* hub : hub_classes()) {
      if (!hub->modeling_file.empty()) continue;
      auto tried = attempt(*hub, form);
      if (tried.choice) {
        tried.choice->pairing = pairing;
        why_not.clear();
        return std::move(*tried.choice);
      }
      if (tried.differences < nearest || why_not.empty()) {
        nearest = tried.differences;
        why_not = "the nearest, " + std::string(hub->name) + ", cannot hold " + tried.reason;
      }
    }
  }
  auto own = attempt(*hub_classes().back(), stack);
  if (!own.choice) throw std::logic_error("the modelling file does not hold the model: " + own.reason);
  return std::move(*own.choice);
}

WeightNames weight_names(const HubClass& hub, const Stack& stack) {
  auto names = hub.weights(stack);
  if (!stack.model.tied) names.push_back({std::string(hub.head), {"head.weight"}});
  return names;
}

HubConfig read_hub_config(const std::string& text, const std::string& source) {
  const auto refuse = [&](const std::string& problem) { throw std::runtime_error(source + ": " + problem); };
  Json json;
  try {
    json = Json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    refuse(std::string("is not JSON: ") + error.what());
  }
  if (!json.is_object()) refuse("must be a map of keys and values");
  ConfigMap map(std::move(json));
  try {
    const auto* type = map.find("model_type");
    if (type == nullptr) throw CannotHold("model_type", "is missing");
    const auto name = ConfigMap::content<std::string>("model_type", *type);
    std::string known;
    for (const auto* hub : hub_classes()) {
      known += (known.empty() ? "" : ", ") + std::string(hub->model_type);
      if (hub->model_type != name) continue;
      auto stack = read(*hub, map);
      HubConfig found{.hub = hub, .stack = std::move(stack), .defaults = map.defaults()};
      for (const auto* key : kSpecialIds) {
        if (const auto* id = map.find(key)) found.special_ids.emplace(key, id->dump());
      }
      return found;
    }
    throw CannotHold("model_type", "is " + quote(name) + ", which this program does not have; one of: " + known);
  } catch (const CannotHold& problem) {
    refuse(problem.what());
  } catch (const ConfigError& problem) {
    refuse(std::string("describes a model that is refused:\n") + problem.what());
  }
  return {};
}

ExportClass export_class(const ModelConfig& model) {
  ExportClass found;
  found.name = choose_class(stack_of(model), found.not_stock).hub->name;
  return found;
}

std::vector<std::string> hub_class_names() {
  std::vector<std::string> names;
  for (const auto* hub : hub_classes()) names.emplace_back(hub->name);
  return names;
}

}  // namespace blockzoo
