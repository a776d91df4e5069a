#pragma once

#include <memory>
#include <vector>

#include "blockzoo/nn/types.h"

namespace blockzoo {

class CompactMatrix;

/// Copies of matrices in fewer bytes, without loss. Bfloat16 numbers take 12 bits: three quarters of a bfloat16
/// matrix's bytes, three eighths of a float32 matrix's whose numbers were bfloat16 once, as those of most published
/// models. Other float32 numbers take 28 bits. While the copies live, linear_map() of one row without gradients reads
/// them on this thread instead, and gives the same to the bit; such a product takes as long as reading its matrix.
/// After Zhang et al. (2025, arXiv:2504.11651), who give every exponent a code of its own length, as few bits as can
/// be; here all have four, which a vector takes apart at once.
class CompactWeights {
 public:
  /// Of those `matrices` [out, in] that fast kernels take and that become smaller; none where all take more than a
  /// quarter of the machine's memory, and in 28 bits only where all take at most 64 MiB, on AMD's processors from Zen 4
  /// on: elsewhere reading them is no faster, or was not measured. The matrices are kept and must not change.
  explicit CompactWeights(const std::vector<Tensor>& matrices);
  ~CompactWeights();
  CompactWeights(const CompactWeights&) = delete;
  CompactWeights& operator=(const CompactWeights&) = delete;

  /// The copy of a matrix, or null.
  const CompactMatrix* of(const Tensor& weight) const;

  /// How many bytes fewer are read when every matrix is read once.
  int64_t saved_bytes() const { return saved_bytes_; }

  /// How many matrices have a copy, and their own bytes.
  size_t count() const { return count_; }
  int64_t matrix_bytes() const { return matrix_bytes_; }

 private:
  struct Copy {
    const void* place;                            // where the matrix lies
    std::unique_ptr<const CompactMatrix> matrix;  // or null
  };
  std::vector<Copy> copies_;
  mutable size_t next_ = 0;  // the copy that is asked for next where steps ask in the order of the matrices
  size_t count_ = 0;
  int64_t matrix_bytes_ = 0, saved_bytes_ = 0;
  const CompactWeights* const before_;
};

/// The copies that this thread's maps read, or null.
const CompactWeights* compact_weights_in_use();

}  // namespace blockzoo
