#include "blockzoo/nn/ffn/hidden_width.h"

#include <algorithm>
#include <cmath>

namespace blockzoo {

int64_t HiddenWidth::resolve(int64_t model, double default_ratio) const {
  if (hidden) return *hidden;
  // A ratio such as 8/3 is not exact in binary: 8/3 * 96 must still be 256.
  const auto whole =
      static_cast<int64_t>(std::floor(ratio.value_or(default_ratio) * static_cast<double>(model) + 1e-9));
  const auto up = rounding == Rounding::kUp ? multiple_of - 1 : 0;
  return std::max<int64_t>(multiple_of, (whole + up) / multiple_of * multiple_of);
}

}  // namespace blockzoo
