#include "blockzoo/lab/account.h"
#include "blockzoo/train/session.h"
#include "lab/allocations.h"
#include "support/catch.h"
#include "support/from_yaml.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

/// The largest number of bytes alive at a time in the second update, moments included.
double measured_bytes(const RunConfig& config) {
  const AllocationScope allocations;
  Session session(config);
  session.advance();
  allocations->forget_peak();
  session.advance();
  return allocations->peak();
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
