#include "blockzoo/kernels/compact_weights.h"

#include <ATen/ATen.h>
#include <unistd.h>

#include "kernels/compact_matrix.h"
#include "kernels/fast.h"
#include "kernels/processor.h"

namespace blockzoo {
namespace {

constexpr int64_t kWorthCompacting = 1 << 15;  // weights of a matrix below which its bytes count little
constexpr int64_t kShareOfMemory = 4;          // one in so many bytes of the machine's memory
constexpr int64_t kMostFloats = 1 << 26;       // bytes of all, of which a third cache holds a good part

thread_local const CompactWeights* in_use = nullptr;

bool compact_fits(const Tensor& weight) {
  return fast_on_cpu(weight) && weight.dim() == 2 && weight.is_contiguous() && weight.numel() >= kWorthCompacting;
}

int64_t memory_of_machine() { return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE); }

/// Null where none is worth it; `all` bytes are in all the matrices that fit.
std::unique_ptr<const CompactMatrix> compact_copy(const Tensor& matrix, int64_t all) {
  if (!compact_fits(matrix) || all > memory_of_machine() / kShareOfMemory) return nullptr;
  if (auto copy = compact_bfloat16(matrix)) return copy;
  const bool measured = processor_is_avx512_amd() && all <= kMostFloats;
  return measured ? compact_floats(matrix) : nullptr;
}

}  // namespace

CompactWeights::CompactWeights(const std::vector<Tensor>& matrices) : before_(in_use) {
  int64_t all = 0;
  for (const auto& matrix : matrices) all += compact_fits(matrix) ? static_cast<int64_t>(matrix.nbytes()) : 0;
  for (const auto& matrix : matrices) {
    auto copy = compact_copy(matrix, all);
    if (copy != nullptr) {
      const auto bytes = static_cast<int64_t>(matrix.nbytes());
      ++count_;
      matrix_bytes_ += bytes;
      saved_bytes_ += bytes - copy->bytes();
    }
    copies_.push_back({matrix.const_data_ptr(), std::move(copy)});
  }
  in_use = this;
}

CompactWeights::~CompactWeights() { in_use = before_; }

const CompactMatrix* CompactWeights::of(const Tensor& weight) const {
  const auto* const place = weight.const_data_ptr();
  for (size_t tried = 0; tried < copies_.size(); ++tried) {
    const auto& copy = copies_[next_];
    next_ = (next_ + 1) % copies_.size();
    if (copy.place == place) return copy.matrix.get();
  }
  return nullptr;
}

const CompactWeights* compact_weights_in_use() { return in_use; }

}  // namespace blockzoo
