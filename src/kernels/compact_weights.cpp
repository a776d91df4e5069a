#include "blockzoo/kernels/compact_weights.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "kernels/compact_matrix.h"
#include "kernels/fast.h"

namespace blockzoo {
namespace {

constexpr int64_t kWorthCompacting = 1 << 15;  // weights of a matrix below which its bytes count little
constexpr int64_t kCompactGrain = 1 << 15;     // weights that are worth a thread
constexpr double kWorthBytes = 0.9;            // of a matrix's that a copy may take at most
constexpr int64_t kShareOfMemory = 4;          // one in so many bytes of the machine's memory

thread_local const CompactWeights* in_use = nullptr;

bool compact_fits(const Tensor& weight) {
  return rows::compacts() && fast_on_cpu(weight) && weight.dim() == 2 && weight.is_contiguous() &&
         weight.numel() >= kWorthCompacting;
}

int64_t memory_of_machine() { return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE); }

}  // namespace

CompactMatrix::CompactMatrix(const Tensor& matrix)
    : weight(matrix),
      shape{.outputs = static_cast<size_t>(matrix.size(0)), .inputs = static_cast<size_t>(matrix.size(1))},
      largest(shape.outputs),
      begins(shape.outputs + 1) {
  const auto by_outputs = [&](const auto& body) {
    by_element(matrix, [&]<class T>(T) {
      at::parallel_for(0, matrix.size(0), std::max<int64_t>(1, kCompactGrain / matrix.size(1)),
                       [&](int64_t first, int64_t last) {
                         body(read<T>(matrix), static_cast<size_t>(first), static_cast<size_t>(last));
                       });
    });
  };
  by_outputs([&](const auto* w, size_t first, size_t last) {
    rows::plan_compact(shape, w, first, last, largest.data(), begins.data() + 1);
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  if (static_cast<double>(bytes()) > kWorthBytes * static_cast<double>(matrix.nbytes())) return;
  memory = at::empty({bytes()}, at::kByte);
  by_outputs([&](const auto* w, size_t first, size_t last) { rows::make_compact(shape, w, first, last, rows()); });
}

rows::Compact CompactMatrix::rows() const {
  return {.largest = largest.data(), .begins = begins.data(), .memory = write<uint8_t>(memory)};
}

CompactWeights::CompactWeights(const std::vector<Tensor>& matrices) : before_(in_use) {
  int64_t all = 0;
  for (const auto& matrix : matrices) all += compact_fits(matrix) ? static_cast<int64_t>(matrix.nbytes()) : 0;
  for (const auto& matrix : matrices) {
    if (all > memory_of_machine() / kShareOfMemory || !compact_fits(matrix)) continue;
    auto copy = std::make_unique<const CompactMatrix>(matrix);
    if (copy->memory.defined()) copies_[matrix.const_data_ptr()] = std::move(copy);
  }
  in_use = this;
}

CompactWeights::~CompactWeights() { in_use = before_; }

const CompactMatrix* CompactWeights::of(const Tensor& weight) const {
  const auto found = copies_.find(weight.const_data_ptr());
  return found == copies_.end() ? nullptr : found->second.get();
}

int64_t CompactWeights::saved_bytes() const {
  int64_t sum = 0;
  for (const auto& [place, copy] : copies_) sum += static_cast<int64_t>(copy->weight.nbytes()) - copy->bytes();
  return sum;
}

const CompactWeights* compact_weights_in_use() { return in_use; }

}  // namespace blockzoo
