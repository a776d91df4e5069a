#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <array>
#include <string_view>
#include <utility>

namespace blockzoo {

/// float32 throughout, or matrix products in bfloat16 with float32 weights, statistics and losses (autocast).
enum class Precision { kFloat32, kBfloat16 };

constexpr auto names(Precision) {
  using enum Precision;
  return std::to_array<std::pair<Precision, std::string_view>>({{kFloat32, "float32"}, {kBfloat16, "bfloat16"}});
}

/// Autocast while it lives, as `precision` says. Its cache of converted weights is cleared at the end, also on
/// exceptions, so that the next use sees changed weights; what was set before comes back.
class AutocastScope {
 public:
  AutocastScope(Precision precision, c10::Device device);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  c10::DeviceType device_;
  bool enabled_before_;
  c10::ScalarType type_before_;
};

}  // namespace blockzoo
