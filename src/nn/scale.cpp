#include "blockzoo/nn/scale.h"

#include <cmath>

namespace blockzoo {
namespace {

struct Factor {
  double width;
  double operator()(const NoScale&) const { return 1; }
  double operator()(const ConstantScale& scale) const { return scale.value; }
  double operator()(const SqrtWidthScale&) const { return std::sqrt(width); }
  double operator()(const InverseSqrtWidthScale&) const { return 1 / std::sqrt(width); }
};

}  // namespace

double scale_factor(const ScaleConfig& scale, int64_t width) {
  return std::visit(Factor{static_cast<double>(width)}, scale);
}

}  // namespace blockzoo
