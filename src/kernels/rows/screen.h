#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/rows/element.h"

namespace blockzoo::rows {

/// A matrix W [rows, inputs] in 8 bits: row v is about factors[v] times numbers from -127 to 127. Rows of numbers are
/// stride() apart, filled up with zeros.
struct ScreenShape {
  size_t rows = 0, inputs = 0;

  size_t stride() const { return (inputs + 63) / 64 * 64; }
};

/// Rows first to last of such a matrix. errors[v] times |x| is the most by which a row's estimate and its product with
/// x in float32, each summed in any order, are apart; infinite where the row is not finite.
void make_screen(const ScreenShape& shape, const float* w, size_t first, size_t last, int8_t* numbers, float* factors,
                 float* errors);
void make_screen(const ScreenShape& shape, const Bf16* w, size_t first, size_t last, int8_t* numbers, float* factors,
                 float* errors);

struct Screen {
  const int8_t* numbers = nullptr;
  const float* factors = nullptr;
  const float* errors = nullptr;
  const float* bias = nullptr;  // or null
};

/// Estimates of W x + bias for the rows first to last. x [stride()], filled up with zeros, has length `norm`. Returns
/// the largest of what these rows' products are at least.
float estimate(const ScreenShape& shape, const Screen& screen, const float* x, float norm, size_t first, size_t last,
               float* estimates);

}  // namespace blockzoo::rows
