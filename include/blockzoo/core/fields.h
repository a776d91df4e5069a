#pragma once

#include <concepts>
#include <limits>
#include <string_view>

namespace blockzoo {

/// What a number may be. `allowed` is the text of the error message.
struct Bound {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_included = true;
  bool high_included = true;
  std::string_view allowed;

  constexpr bool holds(double value) const {
    return (low_included ? value >= low : value > low) && (high_included ? value <= high : value < high);
  }
};

inline constexpr Bound positive{.low = 0, .low_included = false, .allowed = "a number above 0"};
inline constexpr Bound not_negative{.low = 0, .allowed = "0 or more"};
inline constexpr Bound dropout_rate{.low = 0, .high = 1, .high_included = false, .allowed = "0 or more and below 1"};
inline constexpr Bound fraction{.low = 0, .high = 1, .low_included = false, .allowed = "above 0 and at most 1"};

/// Sizes of tensors: two of them multiply to a number of elements that 64 bits hold.
inline constexpr Bound tensor_size{.low = 1, .high = 1 << 24, .allowed = "from 1 to 16777216"};
inline constexpr Bound tensor_size_or_none{.low = 0, .high = 1 << 24, .allowed = "from 0 to 16777216"};

/// Accepts every visitor call that `T::fields` may make; used to state the concept below.
struct AnyVisitor {
  void operator()(std::string_view, auto&, std::string_view) {}
  void operator()(std::string_view, auto&, const Bound&, std::string_view) {}
};

/// A config struct: `static void fields(auto& self, auto& visit)` calls, once for each field in order,
///   visit("key", self.key, "what it means")   or   visit("key", self.key, bound, "what it means").
/// Reader, writer, comparison, hash and documentation all walk this one list.
/// Optional: `static void rules(const auto& self, auto& expect)` calls expect(condition, "key", "what is wrong; what is
/// allowed") and runs once all fields are valid.
template <class T>
concept HasFields = requires(T& config, AnyVisitor& visit) {
  T::fields(config, visit);
};

/// One variant of a family: a config struct with the `kind` that YAML spells.
template <class T>
concept IsKind = HasFields<T> && requires {
  { T::kind } -> std::convertible_to<std::string_view>;
  { T::summary } -> std::convertible_to<std::string_view>;
  { T::source } -> std::convertible_to<std::string_view>;
};

}  // namespace blockzoo
