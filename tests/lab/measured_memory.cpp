#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>

#include "blockzoo/lab/account.h"
#include "blockzoo/train/session.h"
#include "support/catch.h"
#include "support/from_yaml.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

/// Bytes of tensors that are alive, as LibTorch's allocator reports them on this thread.
class LiveBytes final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device) override {
    live_ += bytes;
    peak_ = std::max(peak_, live_);
  }
  bool memoryProfilingEnabled() const override { return true; }

  double peak() const { return static_cast<double>(peak_); }
  void forget_peak() { peak_ = live_; }

 private:
  int64_t live_ = 0, peak_ = 0;
};

/// The largest number of bytes alive at a time in the second update, moments included.
double measured_bytes(const RunConfig& config) {
  const auto bytes = std::make_shared<LiveBytes>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, bytes);
  Session session(config);
  session.advance();
  bytes->forget_peak();
  session.advance();
  return bytes->peak();
}

}  // namespace

TEST_CASE("Memory of training with fast kernels in float32 is within a tenth of what is measured",
          "[lab][account][memory][torch]") {
  for (const std::string block :
       {"{}", "{attention: {heads: 4, kv_heads: 2}}", "{layout: {kind: post_norm}, ffn: {kind: mlp}}",
        "{attention: {kind: latent, heads: 4}}", "{attention: {heads: 4, window: 32}}"}) {
    INFO(block);
    auto config = tiny_run();
    config.model =
        from_yaml<ModelConfig>("{vocabulary: 256, width: 128, layers: 4, context: 128, block: " + block + "}");
    config.train.batch = 16;
    const auto account = account_of(config.model, {.batch = 16, .kept = KeptActivations::kFused});
    CHECK(account.memory.of_batch(16, /*stored_scores=*/false) == Approx(measured_bytes(config)).epsilon(0.1));
  }
}

}  // namespace blockzoo
