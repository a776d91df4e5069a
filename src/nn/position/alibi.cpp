#include "blockzoo/nn/position/alibi.h"

#include <ATen/ATen.h>

#include <bit>
#include <cmath>

#include "blockzoo/nn/parameter.h"

namespace blockzoo {
namespace {

Tensor alibi_slopes(int64_t heads) {
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  const auto slope = [](double step, int64_t series) { return std::exp2(-8.0 * step / static_cast<double>(series)); };
  std::vector<double> slopes;
  for (int64_t h = 0; h < std::min(heads, power); ++h) slopes.push_back(slope(static_cast<double>(h + 1), power));
  for (int64_t h = 0; h < heads - power; ++h) slopes.push_back(slope(static_cast<double>(2 * h + 1), 2 * power));
  return at::tensor(slopes, at::TensorOptions().dtype(at::kDouble).device(birthplace())).to(at::kFloat).view({-1, 1});
}

}  // namespace

AlibiPositionImpl::AlibiPositionImpl(const AlibiPositionConfig&, const PositionDims& dims)
    : slopes_(register_buffer("slopes", alibi_slopes(dims.heads))) {}

Tensor AlibiPositionImpl::distance_bias(int64_t distances) const {
  return -slopes_ * at::arange(distances, slopes_.options());  // [H, S]
}

}  // namespace blockzoo
