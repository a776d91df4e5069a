#include "hub/transformers/rope_map.h"

#include <cmath>

#include "hub/safetensors_header.h"

namespace blockzoo {
namespace {

using Json = ConfigMap::Json;

/// What scales, in version 5's words, in or out of `map`, a map of its own.
struct ScalingMap {
  ConfigMap& map;
  int64_t context;

  void operator()(NoRopeScaling&) {}
  void operator()(LinearRopeScaling& s) { map.same("factor", s.factor); }
  void operator()(Llama3RopeScaling& s) {
    map.same("factor", s.factor);
    map.same("low_freq_factor", s.low_frequency_factor);
    map.same("high_freq_factor", s.high_frequency_factor);
    map.same("original_max_position_embeddings", s.original_context, context);
  }
  void operator()(YarnRopeScaling& s) {
    map.same("factor", s.factor);
    map.same("original_max_position_embeddings", s.original_context, context);
    map.same("beta_fast", s.beta_fast, 32.0);
    map.same("beta_slow", s.beta_slow, 1.0);
    map.always("truncate", true);
    if (!map.reading()) {
      if (s.attention_factor) map.put("attention_factor") = *s.attention_factor;
      return;
    }
    const auto* mscale = map.find("mscale");
    const auto* all_dim = map.find("mscale_all_dim");
    if (const auto* given = map.find("attention_factor")) {
      s.attention_factor = ConfigMap::content<double>("attention_factor", *given);
    } else if (mscale != nullptr && all_dim != nullptr) {
      const auto magnitude = [&](const Json& m) {
        return s.factor <= 1 ? 1.0 : 0.1 * ConfigMap::content<double>("mscale", m) * std::log(s.factor) + 1;
      };
      const auto above = magnitude(*mscale), below = magnitude(*all_dim);
      if (*mscale != 0 && *all_dim != 0) s.attention_factor = above / below;
    }
  }
};

std::string_view spelled(const RopeScaling& scaling) {
  if (std::holds_alternative<NoRopeScaling>(scaling)) return "default";
  return std::visit([](const auto& kind) { return kind.kind; }, scaling);
}

RopeScaling named(const std::string& type, bool scales) {
  if (type == "default") return NoRopeScaling{};
  if (scales && type == "linear") return LinearRopeScaling{};
  if (scales && type == "llama3") return Llama3RopeScaling{};
  if (scales && type == "yarn") return YarnRopeScaling{};
  throw CannotHold("rope_type", "is " + quote(type) +
                                    ", which this program does not have for this class; allowed: default" +
                                    (scales ? ", linear, llama3, yarn" : ""));
}

/// The channels that a class turns: it cuts the product.
double cut(double fraction, int64_t width) {
  const auto channels = static_cast<double>(static_cast<int64_t>(static_cast<double>(width) * fraction));
  return channels == std::round(static_cast<double>(width) * fraction) ? fraction
                                                                       : channels / static_cast<double>(width);
}

void write(ConfigMap& map, RopePositionConfig rope, const RopeNames& names) {
  if (!names.scales) rope.scaling = NoRopeScaling{};
  ConfigMap scaling;
  scaling.put("rope_type") = std::string(spelled(rope.scaling));
  std::visit(ScalingMap{scaling, names.context}, rope.scaling);
  auto parameters = scaling.json();
  parameters["rope_theta"] = rope.theta;
  if (names.partial) {
    parameters["partial_rotary_factor"] = rope.rotary_fraction;
    map.put(names.fraction_key) = rope.rotary_fraction;
  }
  map.put(names.theta_key) = rope.theta;
  auto& all = map.put("rope_parameters");
  if (names.layer_type.empty()) {
    all = parameters;
  } else {
    all[std::string(names.layer_type)] = parameters;
  }
  const bool local = names.layer_type == "sliding_attention";
  if (!local && !std::holds_alternative<NoRopeScaling>(rope.scaling)) map.put("rope_scaling") = scaling.json();
}

/// Where the parameters stand; empty when config.json says nothing.
Json parameters_of(ConfigMap& map, const RopeNames& names) {
  const auto* nested = map.find("rope_parameters");
  const auto* scaling = map.find("rope_scaling");
  const auto* theta = map.find(names.theta_key);
  const auto* fraction = map.find(names.fraction_key);
  Json found = Json::object();
  for (const auto* value : {nested, scaling}) {
    if (value != nullptr && !value->is_object())
      throw CannotHold(value == nested ? "rope_parameters" : "rope_scaling", "must be a map");
  }
  if (nested != nullptr) {
    const bool by_layer = nested->contains("full_attention") || nested->contains("sliding_attention");
    if (by_layer && names.layer_type.empty())
      throw CannotHold("rope_parameters", "differ by layer, which this class does not have");
    if (by_layer) {
      for (const auto& [key, value] : nested->items()) {
        if (key != "full_attention" && key != "sliding_attention")
          throw CannotHold("rope_parameters." + key, "is not known beside those of the layer types");
        if (key == names.layer_type && value.is_object()) found = value;
      }
    } else {
      found = *nested;
    }
  }
  if (scaling != nullptr && names.layer_type != "sliding_attention") {
    for (const auto& [key, value] : scaling->items()) found[key] = value;
  }
  if (theta != nullptr && !found.contains("rope_theta")) found["rope_theta"] = *theta;
  if (fraction != nullptr && !found.contains("partial_rotary_factor")) found["partial_rotary_factor"] = *fraction;
  return found;
}

}  // namespace

void rope(ConfigMap& map, RopePositionConfig& rope, int64_t width, const RopeNames& names) {
  if (!map.reading()) return write(map, rope, names);
  const auto found = parameters_of(map, names);
  if (!found.contains("rope_theta")) map.note_default(names.theta_key, names.theta);
  ConfigMap parameters(found);
  try {
    std::string type = "default";
    const auto* older = parameters.find("type");
    if (const auto* given = parameters.find("rope_type"); given != nullptr || older != nullptr)
      type = ConfigMap::content<std::string>("rope_type", given != nullptr ? *given : *older);
    rope.scaling = named(type, names.scales);
    parameters.same("rope_theta", rope.theta, names.theta);
    std::visit(ScalingMap{parameters, names.context}, rope.scaling);
    if (names.partial) {
      parameters.same("partial_rotary_factor", rope.rotary_fraction, names.fraction);
      rope.rotary_fraction = cut(rope.rotary_fraction, width);
    } else {
      parameters.always("partial_rotary_factor", 1.0);
    }
    parameters.refuse_unknown();
  } catch (const CannotHold& problem) {
    throw CannotHold("rope_parameters:", problem.what());
  }
}

}  // namespace blockzoo
