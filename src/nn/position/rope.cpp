#include "blockzoo/nn/position/rope.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "blockzoo/kernels/rotary.h"
#include "blockzoo/nn/parameter.h"
#include "core/scalar.h"

namespace blockzoo {
namespace {

/// Angles [context, 1, R/2] in float64, and the number that multiplies their sine and cosine.
std::pair<Tensor, double> angles(const RopePositionConfig& config, const PositionDims& dims) {
  const auto channels = rotary_channels(config, dims.rotary_width);
  auto frequencies = rope_frequencies(config.scaling, config.theta, channels);
  auto& radians = frequencies.radians;
  std::fill(radians.begin() + turning_pairs(config, channels), radians.end(), 0.0);
  const auto wide = at::TensorOptions().dtype(at::kDouble).device(birthplace());
  const auto positions = at::arange(dims.context, wide).view({-1, 1, 1});
  return {positions * at::tensor(radians, wide), frequencies.magnitude};
}

}  // namespace

int64_t rotary_channels(const RopePositionConfig& config, int64_t width) {
  return std::llround(config.rotary_fraction * static_cast<double>(width));
}

std::string rope_problem(const RopePositionConfig& config, int64_t width) {
  const double exact = config.rotary_fraction * static_cast<double>(width);
  const auto channels = rotary_channels(config, width);
  if (channels >= 2 && channels % 2 == 0 && std::abs(exact - static_cast<double>(channels)) < 1e-6) return "";
  return "leaves " + write_number(exact) + " of " + std::to_string(width) +
         " channels to rotate; it must be an even whole number of at least 2";
}

int64_t turning_pairs(const RopePositionConfig& config, int64_t channels) {
  return std::llround((1 - config.still_fraction) * static_cast<double>(channels / 2));
}

std::string still_problem(const RopePositionConfig& config, int64_t width) {
  const auto channels = rotary_channels(config, width);
  const auto turning = turning_pairs(config, channels);
  if (config.still_fraction == 0 || (turning > 0 && turning < channels / 2)) return "";
  return "leaves " + std::to_string(turning) + " of " + std::to_string(channels / 2) +
         " pairs to turn; it must stop at least one and leave at least one";
}

RopePositionImpl::RopePositionImpl(const RopePositionConfig& config, const PositionDims& dims)
    : pairing_(config.pairing), channels_(rotary_channels(config, dims.rotary_width)) {
  const auto [angle, magnitude] = angles(config, dims);
  cosine_ = register_buffer("cosine", (angle.cos() * magnitude).to(at::kFloat));
  sine_ = register_buffer("sine", (angle.sin() * magnitude).to(at::kFloat));
}

Tensor RopePositionImpl::rotate(const Tensor& x, const Places& places) const {
  TORCH_CHECK(x.size(-1) >= channels_, "[rope] heads must be at least ", channels_, " wide, got x ", x.sizes());
  if (!places.absent.defined()) {
    check_rows(places, x.size(1), cosine_, "rope");
    return rotate_pairs(x, cosine_, sine_, pairing_, places.first);
  }
  const auto cosine = rows_at(places, x.size(1), cosine_, "rope");  // [B, T, 1, R/2]
  const auto sine = rows_at(places, x.size(1), sine_, "rope");
  return rotate_pairs(x, cosine, sine, pairing_);
}

}  // namespace blockzoo
