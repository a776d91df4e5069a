#pragma once

#include <cstddef>

namespace blockzoo::rows {

/// Rows of `width` elements. Row r has the gain row r mod gain_rows of gain [gain_rows, width].
struct NormShape {
  size_t rows = 0;
  size_t width = 0;
  size_t gain_rows = 1;
  float eps = 0;
};

}  // namespace blockzoo::rows
