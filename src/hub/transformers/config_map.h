#pragma once

#include <concepts>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "blockzoo/nn/ffn/activation.h"

namespace blockzoo {

/// A field that cannot be held, of config.json or of this program.
class CannotHold : public std::runtime_error {
 public:
  CannotHold(std::string_view field, const std::string& problem)
      : std::runtime_error(std::string(field) + " " + problem) {}
};

/// One side of the table between config.json and a ModelConfig. A class says once how they correspond; run with a map
/// that reads, the description fills the model, run with one that writes, it fills config.json. A description need not
/// look at what it writes: whoever writes reads the result back and compares.
/// Errors: CannotHold, by the key of config.json when reading.
class ConfigMap {
 public:
  using Json = nlohmann::ordered_json;

  /// Writes a new config.json.
  ConfigMap() : json_(Json::object()) {}
  /// Reads this one.
  explicit ConfigMap(Json json) : reading_(true), json_(std::move(json)) {}

  bool reading() const { return reading_; }
  const Json& json() const { return json_; }

  /// config.json's `key` is `field`. Reading needs the key.
  template <class T>
  void same(std::string_view key, T& field) {
    if (!reading_) {
      json_[std::string(key)] = field;
    } else if (const auto* value = find(key)) {
      field = content<T>(key, *value);
    } else {
      throw CannotHold(key, "is missing");
    }
  }
  template <class T>
  void same(std::string_view key, std::optional<T>& field) {
    auto value = field.value_or(T{});
    same(key, value);
    field = value;
  }
  /// The same; a key that is absent or null stands for `absent`.
  template <class T>
  void same(std::string_view key, T& field, const T& absent) {
    if (reading_ && find(key) == nullptr) {
      note_default(key, Json(absent));
      field = absent;
    } else {
      same(key, field);
    }
  }
  template <class T>
  void same(std::string_view key, std::optional<T>& field, const T& absent) {
    auto value = field.value_or(absent);
    same(key, value, absent);
    field = value;
  }

  /// One key for several fields.
  template <class T>
  void all(std::string_view key, std::initializer_list<T*> fields, const T& absent) {
    auto value = **fields.begin();
    same(key, value, absent);
    for (auto* field : fields) *field = value;
  }

  /// A number that is 0 here and null there when it is off.
  template <class T>
  void off_or(std::string_view key, T& field) {
    if (reading_) {
      const auto* value = find(key);
      field = value == nullptr ? T{} : content<T>(key, *value);
    } else {
      json_[std::string(key)] = field == T{} ? Json() : Json(field);
    }
  }

  /// The class has no key for it: it is always `value`.
  template <class T, class U>
  void implied(T& field, const U& value) const {
    if (reading_) field = value;
  }

  /// Everything but `value` means a model that this program does not have. Absent means `value`.
  void always(std::string_view key, const Json& value);

  /// The kind that the class has there.
  template <class Kind, class... Kinds>
  Kind& kind(std::variant<Kinds...>& choice) const {
    if (reading_ || !std::holds_alternative<Kind>(choice)) choice = Kind{};
    return std::get<Kind>(choice);
  }

  /// transformers' names of activations; `new_gelu` writes "gelu_new", as files of GPT-2 do.
  void activation(std::string_view key, Activation& field, Activation absent, bool new_gelu = false);

  /// "full_attention" or "sliding_attention" of layer `index` in the list `key`. Reading without the list asks `usual`.
  void sliding(std::string_view key, size_t index, size_t layers, bool& slides, bool usual);

  /// An older spelling of `key`, taken when `key` is absent.
  void also_called(std::string_view key, std::string_view older);

  /// Keys that change nothing in what is computed; reading passes over them.
  void without_effect(std::initializer_list<std::string_view> keys);

  /// The value of a key, now known; null when it is absent or null. Only when reading.
  const Json* find(std::string_view key);
  /// Only when writing.
  Json& put(std::string_view key) { return json_[std::string(key)]; }

  /// Remembers that a default of the class was taken, for the user.
  void note_default(std::string_view key, const Json& value);
  const std::vector<std::string>& defaults() const { return defaults_; }

  /// Refuses the keys that hold something and that nobody has asked for.
  void refuse_unknown() const;

  /// `value` as a T, or a CannotHold that names `key`.
  template <class T>
  static T content(std::string_view key, const Json& value);

 private:
  bool reading_ = false;
  Json json_;
  std::set<std::string, std::less<>> known_;
  std::vector<std::string> defaults_;
};

}  // namespace blockzoo
