#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace blockzoo {

/// An enum whose spellings stand in one table: `constexpr auto names(Enum)` beside it returns pairs (value, spelling).
template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) {
  names(value);
};

/// What lists and documents say of an enum value. Optional: `constexpr ValueNote about(Enum)` beside names().
struct ValueNote {
  std::string_view summary;
  std::string_view source;
};

template <NamedEnum E>
constexpr std::string_view name_of(E value) {
  for (const auto& [candidate, name] : names(value)) {
    if (candidate == value) return name;
  }
  throw std::logic_error("an enum value has no name");
}

/// The spellings, comma separated, for error messages and lists.
template <NamedEnum E>
std::string all_names() {
  std::string joined;
  for (const auto& [value, name] : names(E{})) joined += (joined.empty() ? "" : ", ") + std::string(name);
  return joined;
}

}  // namespace blockzoo
