#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <functional>
#include <memory>

namespace blockzoo {

/// Bytes of tensors that this thread takes and gives back, as LibTorch's allocator reports them.
class Allocations final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device) override {
    live_ += bytes;
    peak_ = std::max(peak_, live_);
    if (heard_ && bytes > 0) heard_(static_cast<double>(bytes));
  }
  bool memoryProfilingEnabled() const override { return true; }

  /// Hears of every allocation.
  void on_allocation(std::function<void(double bytes)> heard) { heard_ = std::move(heard); }

  /// The most bytes alive at a time since forget_peak(), of what was allocated since the object is heard.
  double peak() const { return static_cast<double>(peak_); }
  void forget_peak() { peak_ = live_; }

 private:
  int64_t live_ = 0, peak_ = 0;
  std::function<void(double bytes)> heard_;
};

/// Listens while it lives.
class AllocationScope {
 public:
  Allocations* operator->() const { return allocations_.get(); }
  Allocations& operator*() const { return *allocations_; }

 private:
  const std::shared_ptr<Allocations> allocations_ = std::make_shared<Allocations>();
  const c10::DebugInfoGuard guard_{c10::DebugInfoKind::PROFILER_STATE, allocations_};
};

}  // namespace blockzoo
