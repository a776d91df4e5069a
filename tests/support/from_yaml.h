#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/reader.h"
#include "core/writer.h"

namespace blockzoo {

/// A document with one key, so that any field type can be read by itself.
template <class T>
struct OneField {
  T value{};
  static void fields(auto& self, auto& visit) { visit("value", self.value, ""); }
};

/// `text` in flow style, such as "{kind: rms_norm, eps: 0.1}".
template <class T>
T from_yaml(const std::string& text) {
  return read_config<OneField<T>>(parse_yaml("value: " + text, "test.yaml")).value;
}

/// Every problem that reading `text` as a whole document finds, one a line.
template <HasFields T>
std::string problems_in(const std::string& text) {
  try {
    read_config<T>(parse_yaml(text, "test.yaml"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// Each kind of a family with its defaults.
template <class Variant>
std::vector<Variant> all_kinds() {
  return []<class... Kinds>(const std::variant<Kinds...>*) {
    return std::vector<Variant>{Kinds{}...};
  }(static_cast<const Variant*>(nullptr));
}

template <class Variant>
std::string kind_of(const Variant& config) {
  return std::visit([](const auto& kind) { return std::string(kind.kind); }, config);
}

}  // namespace blockzoo
