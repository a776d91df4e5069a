#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace blockzoo {

/// A value of a JSON file and where it stands; every error names the place.
class JsonNode {
 public:
  explicit JsonNode(const nlohmann::json& value, std::string place = {}) : value_(&value), place_(std::move(place)) {}

  const nlohmann::json& value() const { return *value_; }
  bool is_null() const { return value_->is_null(); }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error((place_.empty() ? "" : place_ + ": ") + what);
  }

  /// Null when the key is absent.
  JsonNode get(const std::string& key) const {
    static const nlohmann::json null;
    if (!value_->is_object()) fail("must be a map, not " + kind());
    const auto found = value_->find(key);
    return JsonNode(found == value_->end() ? null : *found, place_.empty() ? key : place_ + "." + key);
  }

  JsonNode at(size_t index) const { return JsonNode((*value_)[index], place_ + "[" + std::to_string(index) + "]"); }

  /// Elements of a list.
  size_t size() const {
    if (!value_->is_array()) fail("must be a list, not " + kind());
    return value_->size();
  }

  std::string text() const {
    if (!value_->is_string()) fail("must be text, not " + kind());
    return value_->get<std::string>();
  }

  std::string text_or(const std::string& otherwise) const { return is_null() ? otherwise : text(); }

  bool flag_or(bool otherwise) const {
    if (is_null()) return otherwise;
    if (!value_->is_boolean()) fail("must be true or false, not " + kind());
    return value_->get<bool>();
  }

  /// From 0 to `highest`.
  int64_t number(int64_t highest) const {
    if (!value_->is_number_integer()) fail("must be a whole number, not " + kind());
    const auto number = value_->is_number_unsigned() && value_->get<uint64_t>() > uint64_t{1} << 62
                            ? int64_t{1} << 62
                            : value_->get<int64_t>();
    if (number < 0 || number > highest) fail("is " + value_->dump() + "; must be from 0 to " + std::to_string(highest));
    return number;
  }

  /// Refuses keys that are not listed, unless they are null or false and so ask for nothing.
  void expect_keys(std::initializer_list<std::string_view> keys) const {
    if (!value_->is_object()) fail("must be a map, not " + kind());
    for (const auto& [key, value] : value_->items()) {
      if (value.is_null() || value == false) continue;
      bool known = false;
      for (const auto allowed : keys) known = known || key == allowed;
      if (!known) get(key).fail("is not supported");
    }
  }

 private:
  std::string kind() const {
    return value_->is_null() ? "null" : std::string(value_->type_name()) + " " + value_->dump().substr(0, 40);
  }

  const nlohmann::json* value_;
  std::string place_;
};

}  // namespace blockzoo
