#include "blockzoo/train/session.h"
#include "support/near.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

/// Odd sizes: heads 12 wide, a width that no vector divides, a vocabulary of 259.
RunConfig odd_run(Kernels kernels) {
  auto config = tiny_run();
  config.model.width = 36;
  config.model.vocabulary = 259;
  config.model.context = 70;
  config.model.final_softcap = 20;
  auto& attention = std::get<SoftmaxAttentionConfig>(config.model.block.attention);
  attention.heads = 3;
  attention.kv_heads = 1;
  attention.window = 30;
  config.train.loss.z_loss = 1e-3;
  config.train.kernels = kernels;
  return config;
}

}  // namespace

TEST_CASE("Fast kernels train as the reference does, to rounding", "[train][session][kernels][torch]") {
  Session fast(odd_run(Kernels::kFast)), reference(odd_run(Kernels::kReference));
  for (int step = 0; step < 5; ++step) {
    const auto a = fast.advance(), b = reference.advance();
    CHECK(a.loss == Approx(b.loss).epsilon(1e-5));
    CHECK(a.z == Approx(b.z).epsilon(1e-4));
    CHECK(a.gradient_norm == Approx(b.gradient_norm).epsilon(1e-4));
  }
  CHECK(fast.evaluate().loss == Approx(reference.evaluate().loss).epsilon(1e-5));
}

TEST_CASE("In bfloat16 too, to what its products round off", "[train][session][kernels][torch]") {
  auto a = odd_run(Kernels::kFast), b = odd_run(Kernels::kReference);
  a.train.precision = b.train.precision = Precision::kBfloat16;
  Session fast(a), reference(b);
  for (int step = 0; step < 5; ++step) CHECK(fast.advance().loss == Approx(reference.advance().loss).epsilon(2e-3));
}

TEST_CASE("Kernels are part of a run's identity, since they change last bits", "[train][config]") {
  CHECK(identity(odd_run(Kernels::kFast)) != identity(odd_run(Kernels::kReference)));
}

}  // namespace blockzoo
