#pragma once

#include <array>
#include <utility>

#include "blockzoo/nn/position/base.h"
#include "blockzoo/nn/position/rope_scaling.h"

namespace blockzoo {

/// Which two channels turn together, of the R that rotate: half pairs (i, i + R/2), interleaved pairs (2i, 2i + 1).
enum class RopePairing { kHalf, kInterleaved };

constexpr auto names(RopePairing) {
  using enum RopePairing;
  return std::to_array<std::pair<RopePairing, std::string_view>>({{kHalf, "half"}, {kInterleaved, "interleaved"}});
}

/// Rotary positions: pair i of a query or key at position t turns by t * theta^(-2i/R), so that scores depend on
/// distances only.
/// Source: Su et al. 2021, arXiv:2104.09864. Partial rotation: GPT-J (Wang and Komatsuzaki 2021). p-RoPE: Barbero et
/// al. 2024, arXiv:2410.06205.
struct RopePositionConfig {
  using Impl = class RopePositionImpl;
  static constexpr std::string_view kind = "rope";
  static constexpr std::string_view summary = "pairs of query and key channels turn by t * theta^(-2i/R)";
  static constexpr std::string_view source = "Su et al. 2021, arXiv:2104.09864";
  static constexpr bool acts_on_embedding = false;

  double theta = 10000;
  double rotary_fraction = 1;
  RopePairing pairing = RopePairing::kHalf;
  double still_fraction = 0;
  RopeScaling scaling;

  static void fields(auto& self, auto& visit) {
    visit("theta", self.theta, positive, "base of the frequencies");
    visit("rotary_fraction", self.rotary_fraction, fraction,
          "share of the head that rotates, R / K; the rest passes through");
    visit("pairing", self.pairing, "channels that turn together: half (i, i + R/2) or interleaved (2i, 2i + 1)");
    visit("still_fraction", self.still_fraction, dropout_rate,
          "share of the pairs, lowest frequencies, that do not turn (p-RoPE)");
    visit("scaling", self.scaling, "stretch to a longer context");
  }
};

/// R for a head of this width: rotary_fraction * width, which must be a positive even whole number (see rope_problem).
int64_t rotary_channels(const RopePositionConfig& config, int64_t width);

/// Empty, or why the config does not fit a head of this width.
std::string rope_problem(const RopePositionConfig& config, int64_t width);

/// Pairs that turn, of channels / 2: those of the highest frequencies.
int64_t turning_pairs(const RopePositionConfig& config, int64_t channels);

/// Empty, or why still_fraction does nothing, or everything, to a head of this width.
std::string still_problem(const RopePositionConfig& config, int64_t width);

/// Parameters: none. Precision: angles in float64, cos and sin in float32, the turn in float32 or wider.
/// Errors: positions beyond the context.
class RopePositionImpl final : public PositionImpl {
 public:
  RopePositionImpl(const RopePositionConfig& config, const PositionDims& dims);
  Tensor rotate(const Tensor& x, const Places& places) const override;

 private:
  const RopePairing pairing_;
  const int64_t channels_;  // R
  Tensor cosine_, sine_;    // [context, 1, R/2]
};

}  // namespace blockzoo
