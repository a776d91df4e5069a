#include "kernels/compact_matrix.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/fast.h"
#include "kernels/processor.h"
#include "kernels/rows/compact.h"
#include "kernels/rows/compact_floats.h"

namespace blockzoo {
namespace {

using at::Tensor;

constexpr int64_t kCompactGrain = 1 << 15;  // weights that are worth a thread
constexpr double kWorthBytes = 0.9;         // of a matrix's that a copy may take at most

bool worth_keeping(int64_t bytes, const Tensor& matrix) {
  return static_cast<double>(bytes) <= kWorthBytes * static_cast<double>(matrix.nbytes());
}

class CompactBfloat16 : public CompactMatrix {
 public:
  explicit CompactBfloat16(const Tensor& matrix)
      : CompactMatrix(matrix), largest_(shape_.outputs), begins_(shape_.outputs + 1) {
    by_outputs([&](const auto* w, size_t first, size_t last) {
      rows::plan_compact(shape_, w, first, last, largest_.data(), begins_.data() + 1);
    });
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    if (!worth_keeping(bytes(), matrix)) return;
    memory_ = at::empty({bytes()}, at::kByte);
    by_outputs([&](const auto* w, size_t first, size_t last) { rows::make_compact(shape_, w, first, last, rows()); });
  }

  bool made() const { return memory_.defined(); }

  void row(const Tensor& x, const Tensor& bias, size_t first, size_t last, const Tensor& y) const override {
    by_element(
        x, [&]<class T>(T) { rows::compact_row(shape_, rows(), read<T>(x), read<T>(bias), first, last, write<T>(y)); });
  }

  int64_t bytes() const override { return static_cast<int64_t>(begins_.back()); }

 private:
  rows::Compact rows() const {
    return {.largest = largest_.data(),
            .begins = begins_.data(),
            .memory = write<uint8_t>(memory_),
            .near = processor_is_wide_amd()};
  }

  template <class Body>
  void by_outputs(const Body& body) const {
    by_element(matrix_, [&]<class T>(T) {
      at::parallel_for(0, matrix_.size(0), std::max<int64_t>(1, kCompactGrain / matrix_.size(1)),
                       [&](int64_t first, int64_t last) {
                         body(read<T>(matrix_), static_cast<size_t>(first), static_cast<size_t>(last));
                       });
    });
  }

  std::vector<uint8_t> largest_;
  std::vector<uint64_t> begins_;
  Tensor memory_;  // undefined where it would take as many bytes
};

/// Reads the matrix itself where its numbers have too many exponents.
class CompactFloats : public CompactMatrix {
 public:
  explicit CompactFloats(const Tensor& matrix)
      : CompactMatrix(matrix),
        groups_(shape_.outputs / rows::kOutputsOfGroup),
        memory_(at::empty({static_cast<int64_t>(groups_.size() * rows::group_bytes(shape_))}, at::kByte)) {
    const auto grain = std::max<int64_t>(1, kCompactGrain / rows::kOutputsOfGroup / matrix.size(1));
    at::parallel_for(0, static_cast<int64_t>(groups_.size()), grain, [&](int64_t first, int64_t last) {
      rows::make_compact_floats(shape_, read<float>(matrix), static_cast<size_t>(first), static_cast<size_t>(last),
                                groups_.data(), write<uint8_t>(memory_));
    });
  }

  void row(const Tensor& x, const Tensor& bias, size_t first, size_t last, const Tensor& y) const override {
    const rows::CompactFloats w{
        .matrix = read<float>(matrix_), .groups = groups_.data(), .memory = read<uint8_t>(memory_)};
    rows::compact_floats_row(shape_, w, read<float>(x), read<float>(bias), first, last, write<float>(y));
  }

  int64_t bytes() const override {
    const auto compact = static_cast<size_t>(
        std::count_if(groups_.begin(), groups_.end(), [](const auto& group) { return group.compact; }));
    const auto plain = shape_.outputs - compact * rows::kOutputsOfGroup;
    return static_cast<int64_t>(compact * rows::group_bytes(shape_) + plain * shape_.inputs * sizeof(float));
  }

 private:
  std::vector<rows::FloatGroup> groups_;
  Tensor memory_;
};

}  // namespace

CompactMatrix::CompactMatrix(const Tensor& matrix)
    : matrix_(matrix),
      shape_{.outputs = static_cast<size_t>(matrix.size(0)), .inputs = static_cast<size_t>(matrix.size(1))} {}

std::unique_ptr<const CompactMatrix> compact_bfloat16(const Tensor& matrix) {
  if (!rows::compacts()) return nullptr;
  auto copy = std::make_unique<const CompactBfloat16>(matrix);
  return copy->made() ? std::move(copy) : nullptr;
}

std::unique_ptr<const CompactMatrix> compact_floats(const Tensor& matrix) {
  if (!rows::compacts_floats() || matrix.scalar_type() != at::kFloat) return nullptr;
  auto copy = std::make_unique<const CompactFloats>(matrix);
  return worth_keeping(copy->bytes(), matrix) ? std::move(copy) : nullptr;
}

}  // namespace blockzoo
