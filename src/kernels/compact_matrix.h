#pragma once

#include <ATen/ATen.h>

#include <memory>

#include "kernels/rows/compact.h"

namespace blockzoo {

/// A copy of a matrix [outputs, inputs] in fewer bytes, from which a row's products are the same to the bit. Keeps the
/// matrix, which must not change.
class CompactMatrix {
 public:
  explicit CompactMatrix(const at::Tensor& matrix);
  virtual ~CompactMatrix() = default;

  /// Outputs first to last of y [1, outputs] = x w^T + bias; x [1, inputs], bias [outputs] or undefined.
  virtual void row(const at::Tensor& x, const at::Tensor& bias, size_t first, size_t last,
                   const at::Tensor& y) const = 0;

  virtual int64_t bytes() const = 0;

 protected:
  const at::Tensor matrix_;
  const rows::CompactShape shape_;
};

/// Of a matrix of float32 or bfloat16 whose numbers a bfloat16 holds: in 12 bits each; or null.
std::unique_ptr<const CompactMatrix> compact_bfloat16(const at::Tensor& matrix);

/// Of a matrix of float32: in 28 bits a number; or null.
std::unique_ptr<const CompactMatrix> compact_floats(const at::Tensor& matrix);

}  // namespace blockzoo
