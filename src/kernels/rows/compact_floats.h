#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/rows/compact.h"

namespace blockzoo::rows {

/// Outputs whose rows lie together: block by block that of the first, of the second and so on, so that memory is read
/// from one end to the other.
constexpr size_t kOutputsOfGroup = 4;

struct FloatGroup {
  uint8_t exponents[16];
  bool compact;  // or its exponents are too many or too far apart, and it is read from the matrix
};

/// Whether this processor has instructions for it.
bool compacts_floats();

/// Bytes of a group in memory.
size_t group_bytes(const CompactShape& shape);

/// Fills the groups first to last and their memory.
void make_compact_floats(const CompactShape& shape, const float* w, size_t first, size_t last, FloatGroup* groups,
                         uint8_t* memory);

/// A matrix w [outputs, inputs] of float32 numbers without loss in 28 bits each. Four rows have few exponents: 4 bits
/// tell which. Sign and mantissa stay as they are. Seven words hold eight numbers, the last of them in what the others
/// leave free. The last inputs stay as they are where they do not fill a block; the outputs behind the last whole group
/// are read from the matrix.
struct CompactFloats {
  const float* matrix;
  const FloatGroup* groups;
  const uint8_t* memory;
};

/// Outputs first to last of y [outputs] = x w^T + bias for one row x, to the bit as few_rows() has them; bias [outputs]
/// or null.
void compact_floats_row(const CompactShape& shape, const CompactFloats& w, const float* x, const float* bias,
                        size_t first, size_t last, float* y);

}  // namespace blockzoo::rows
