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

}  // namespace

CompactWeights::CompactWeights(const std::vector<Tensor>& matrices) : before_(in_use) {
  int64_t all = 0;
  for (const auto& matrix : matrices) all += compact_fits(matrix) ? static_cast<int64_t>(matrix.nbytes()) : 0;
  const bool floats = processor_is_wide_amd() && all <= kMostFloats;  // where it was measured to be worth it
  for (const auto& matrix : matrices) {
    if (all > memory_of_machine() / kShareOfMemory || !compact_fits(matrix)) continue;
    auto copy = compact_bfloat16(matrix);
    if (copy == nullptr && floats) copy = compact_floats(matrix);
    if (copy == nullptr) continue;
    const auto bytes = static_cast<int64_t>(matrix.nbytes());
    matrix_bytes_ += bytes;
    saved_bytes_ += bytes - copy->bytes();
    copies_[matrix.const_data_ptr()] = std::move(copy);
  }
  in_use = this;
}

CompactWeights::~CompactWeights() { in_use = before_; }

const CompactMatrix* CompactWeights::of(const Tensor& weight) const {
  const auto found = copies_.find(weight.const_data_ptr());
  return found == copies_.end() ? nullptr : found->second.get();
}

const CompactWeights* compact_weights_in_use() { return in_use; }

}  // namespace blockzoo
