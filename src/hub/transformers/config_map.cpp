#include "hub/transformers/config_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hub/safetensors_header.h"

namespace blockzoo {
namespace {

struct NamedActivation {
  Activation activation;
  std::string_view name;
};

/// Names of transformers' ACT2FN; the first of each activation is written.
constexpr auto kActivations = std::to_array<NamedActivation>({
    {Activation::kRelu, "relu"},
    {Activation::kGelu, "gelu"},
    {Activation::kGelu, "gelu_python"},
    {Activation::kGeluTanh, "gelu_pytorch_tanh"},
    {Activation::kGeluTanh, "gelu_new"},
    {Activation::kGeluTanh, "gelu_fast"},
    {Activation::kGeluTanh, "gelu_python_tanh"},
    {Activation::kSilu, "silu"},
    {Activation::kSilu, "swish"},
    {Activation::kReluSquared, "relu2"},
    {Activation::kSigmoid, "sigmoid"},
    {Activation::kIdentity, "linear"},
});

std::string shown(const ConfigMap::Json& value) {
  const auto text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return value.is_string()  ? quote(value.get_ref<const std::string&>())
         : text.size() > 60 ? text.substr(0, 57) + "..."
                            : text;
}

}  // namespace

template <>
int64_t ConfigMap::content<int64_t>(std::string_view key, const Json& value) {
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() &&
                      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  if (!fits) throw CannotHold(key, "must be a whole number, not " + shown(value));
  return value.get<int64_t>();
}

template <>
double ConfigMap::content<double>(std::string_view key, const Json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    throw CannotHold(key, "must be a number, not " + shown(value));
  return value.get<double>();
}

template <>
bool ConfigMap::content<bool>(std::string_view key, const Json& value) {
  if (!value.is_boolean()) throw CannotHold(key, "must be true or false, not " + shown(value));
  return value.get<bool>();
}

template <>
std::string ConfigMap::content<std::string>(std::string_view key, const Json& value) {
  if (!value.is_string()) throw CannotHold(key, "must be text, not " + shown(value));
  return value.get<std::string>();
}

const ConfigMap::Json* ConfigMap::find(std::string_view key) {
  known_.emplace(key);
  const auto found = json_.find(std::string(key));
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

void ConfigMap::always(std::string_view key, const Json& value) {
  if (!reading_) {
    put(key) = value;
  } else if (const auto* given = find(key); given != nullptr && *given != value) {
    throw CannotHold(key, "is " + shown(*given) + ", which this program does not have; allowed: " + shown(value));
  }
}

void ConfigMap::activation(std::string_view key, Activation& field, Activation absent, bool new_gelu) {
  if (!reading_) {
    // One that transformers has under no name is written as another, and so reads back to another.
    const auto named = std::find_if(kActivations.begin(), kActivations.end(),
                                    [&](const auto& entry) { return entry.activation == field; });
    const std::string name(named == kActivations.end() ? "gelu" : named->name);
    put(key) = new_gelu && field == Activation::kGeluTanh ? "gelu_new" : name;
    return;
  }
  const auto* given = find(key);
  if (given == nullptr) {
    note_default(key, std::string(name_of(absent)));
    field = absent;
    return;
  }
  const auto name = content<std::string>(key, *given);
  std::string known;
  for (const auto& entry : kActivations) {
    if (entry.name == name) {
      field = entry.activation;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw CannotHold(key, "is " + quote(name) + ", which this program does not have; one of: " + known);
}

void ConfigMap::sliding(std::string_view key, size_t index, size_t layers, bool& slides, bool usual) {
  constexpr std::string_view full = "full_attention", sliding = "sliding_attention";
  if (!reading_) {
    auto& list = put(key);
    if (index == 0) list = Json::array();
    list.push_back(std::string(slides ? sliding : full));
    return;
  }
  const auto* list = find(key);
  if (list == nullptr) {
    slides = usual;
    return;
  }
  if (!list->is_array() || list->size() != layers)
    throw CannotHold(key, "must be a list with an entry for each of the " + std::to_string(layers) + " layers");
  const auto name = content<std::string>(key, (*list)[index]);
  if (name != full && name != sliding)
    throw CannotHold(key, "holds " + quote(name) + ", which this program does not have; allowed: " + std::string(full) +
                              ", " + std::string(sliding));
  slides = name == sliding;
}

void ConfigMap::also_called(std::string_view key, std::string_view older) {
  const auto found = json_.find(std::string(older));
  if (!reading_ || found == json_.end()) return;
  if (!json_.contains(std::string(key))) json_[std::string(key)] = *found;
  without_effect({older});
}

void ConfigMap::without_effect(std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) known_.emplace(key);
}

void ConfigMap::note_default(std::string_view key, const Json& value) {
  const auto text = std::string(key) + " " + value.dump();
  if (std::find(defaults_.begin(), defaults_.end(), text) == defaults_.end()) defaults_.push_back(text);
}

void ConfigMap::refuse_unknown() const {
  std::string unknown;
  for (const auto& [key, value] : json_.items()) {
    if (!value.is_null() && !known_.contains(key)) unknown += (unknown.empty() ? "" : ", ") + quote(key);
  }
  if (!unknown.empty())
    throw CannotHold(unknown, "may change the model in a way that this program does not know; nothing was imported");
}

}  // namespace blockzoo
