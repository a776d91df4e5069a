#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/rows/element.h"

namespace blockzoo::rows {

/// A matrix w [outputs, inputs] of bfloat16 numbers, which float32 may hold, without loss in 12 bits each. A row has
/// few exponents: 4 bits tell the upper byte, which is the sign and seven bits of the exponent, by the sign and by how
/// much less than the row's largest it is, 0 to 7. The lower byte stays as it is. Rows with other numbers stay as they
/// are, and so do the last inputs where they do not fill a block. After Zhang et al. (2025, arXiv:2504.11651), who give
/// every exponent a code of its own length.
struct CompactShape {
  size_t outputs = 0, inputs = 0;
};

/// Whether this processor has instructions for it.
bool compacts();

constexpr uint8_t kPlainRow = 0xff;

/// For the outputs first to last: a row's largest upper byte without sign, or kPlainRow; its bytes.
void plan_compact(const CompactShape& shape, const float* w, size_t first, size_t last, uint8_t* largest,
                  uint64_t* bytes);
void plan_compact(const CompactShape& shape, const Bf16* w, size_t first, size_t last, uint8_t* largest,
                  uint64_t* bytes);

/// Such a matrix; row o is memory[begins[o]] to memory[begins[o + 1]].
struct Compact {
  const uint8_t* largest;
  const uint64_t* begins;  // [outputs + 1]
  uint8_t* memory;
  bool near = false;  // ask for what follows into the first cache, where a processor takes many such requests
};

/// Writes the outputs first to last.
void make_compact(const CompactShape& shape, const float* w, size_t first, size_t last, const Compact& to);
void make_compact(const CompactShape& shape, const Bf16* w, size_t first, size_t last, const Compact& to);

/// Outputs first to last of y [outputs] = x w^T + bias for one row x, to the bit as few_rows() has them; bias [outputs]
/// or null.
void compact_row(const CompactShape& shape, const Compact& w, const float* x, const float* bias, size_t first,
                 size_t last, float* y);
void compact_row(const CompactShape& shape, const Compact& w, const Bf16* x, const Bf16* bias, size_t first,
                 size_t last, Bf16* y);

}  // namespace blockzoo::rows
