#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "kernels/rows/compact.h"

namespace blockzoo {

/// A copy of a matrix [outputs, inputs] in fewer bytes, where it takes fewer.
struct CompactMatrix {
  explicit CompactMatrix(const at::Tensor& weight);

  rows::Compact rows() const;
  int64_t bytes() const { return static_cast<int64_t>(begins.back()); }

  at::Tensor weight;
  rows::CompactShape shape;
  std::vector<uint8_t> largest;
  std::vector<uint64_t> begins;
  at::Tensor memory;  // undefined where the copy would take as many bytes
};

}  // namespace blockzoo
