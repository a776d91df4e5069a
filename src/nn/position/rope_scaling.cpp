#include "blockzoo/nn/position/rope_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace blockzoo {
namespace {

using std::numbers::pi;

struct Scaler {
  double theta;
  RopeFrequencies out;

  double width() const { return 2.0 * static_cast<double>(out.radians.size()); }

  void operator()(const NoRopeScaling&) {}

  void operator()(const LinearRopeScaling& s) {
    for (auto& radians : out.radians) radians /= s.factor;
  }

  void operator()(const Llama3RopeScaling& s) {
    const auto original = static_cast<double>(s.original_context);
    for (auto& radians : out.radians) {
      const double turns = original * radians / (2 * pi);  // within the original context
      const double kept =
          std::clamp((turns - s.low_frequency_factor) / (s.high_frequency_factor - s.low_frequency_factor), 0.0, 1.0);
      radians = kept * radians + (1 - kept) * radians / s.factor;
    }
  }

  /// The pair that makes `turns` turns within the original context.
  double pair_of(double turns, const YarnRopeScaling& s) const {
    return width() * std::log(static_cast<double>(s.original_context) / (turns * 2 * pi)) / (2 * std::log(theta));
  }

  void operator()(const YarnRopeScaling& s) {
    const double low = std::max(std::floor(pair_of(s.beta_fast, s)), 0.0);
    double high = std::min(std::ceil(pair_of(s.beta_slow, s)), width() - 1);
    if (high == low) high += 0.001;  // as the authors' code does, so that the ramp has a slope
    for (size_t i = 0; i < out.radians.size(); ++i) {
      const double divided = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
      out.radians[i] *= (1 - divided) + divided / s.factor;
    }
    out.magnitude = s.attention_factor.value_or(s.factor > 1 ? 0.1 * std::log(s.factor) + 1 : 1.0);
  }
};

}  // namespace

RopeFrequencies rope_frequencies(const RopeScaling& scaling, double theta, int64_t width) {
  Scaler scaler{theta, {std::vector<double>(static_cast<size_t>(width / 2))}};
  for (size_t i = 0; i < scaler.out.radians.size(); ++i)
    scaler.out.radians[i] = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(width));
  std::visit(scaler, scaling);
  return std::move(scaler.out);
}

}  // namespace blockzoo
