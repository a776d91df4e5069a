#include "blockzoo/train/session.h"

#include <algorithm>
#include <cmath>

#include "blockzoo/hub/weights.h"
#include "support/near.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

std::map<std::string, Tensor> copy_of(const std::map<std::string, Tensor>& tensors) {
  std::map<std::string, Tensor> copies;
  for (const auto& [name, tensor] : tensors) copies[name] = tensor.clone();
  return copies;
}

bool equal_bits(const std::map<std::string, Tensor>& a, const std::map<std::string, Tensor>& b) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.begin(), a.end(), [&](const auto& entry) { return at::equal(entry.second, b.at(entry.first)); });
}

RunConfig with_dropout() {
  auto config = tiny_run();
  config.model.block.dropout = 0.2;
  config.model.embedding_dropout = 0.1;
  std::get<SoftmaxAttentionConfig>(config.model.block.attention).dropout = 0.2;
  return config;
}

}  // namespace

TEST_CASE("A batch in parts gives the step of one large batch", "[train][session][torch]") {
  auto config = tiny_run();
  config.train.loss.z_loss = 1e-3;
  Session whole(config);
  config.train.accumulation = GENERATE(2, 4);
  Session parts(config);
  const auto a = whole.advance(), b = parts.advance();
  CHECK(a.loss == Approx(b.loss).epsilon(1e-6));
  CHECK(a.z == Approx(b.z).epsilon(1e-6));
  CHECK(a.gradient_norm == Approx(b.gradient_norm).epsilon(1e-5));
  CHECK(whole.batches_hash() == parts.batches_hash());
  const auto weights = weights_of(*whole.model());
  for (const auto& [name, tensor] : weights_of(*parts.model()))
    check_near(name, tensor, weights.at(name), {2e-6, 2e-5});
}

TEST_CASE("A session that is put back at a step goes on bit for bit, dropout included", "[train][session][torch]") {
  Session straight(with_dropout());
  for (int i = 0; i < 3; ++i) straight.advance();
  const auto weights = copy_of(weights_of(*straight.model()));
  const auto moments = copy_of(straight.optimizer().state());
  const auto hash = straight.batches_hash();

  Session resumed(with_dropout());
  load_weights(*resumed.model(), weights, "memory");
  resumed.optimizer().load_state(moments);
  resumed.set_steps_done(3);
  resumed.set_batches_hash(hash);
  for (int i = 0; i < 3; ++i) CHECK(straight.advance().loss == resumed.advance().loss);
  CHECK(equal_bits(weights_of(*straight.model()), weights_of(*resumed.model())));
  CHECK(straight.batches_hash() == resumed.batches_hash());
}

TEST_CASE("Validation changes nothing in training, is repeatable, and dropout is back on afterwards",
          "[train][session][torch]") {
  Session plain(with_dropout()), watched(with_dropout());
  for (int i = 0; i < 3; ++i) {
    const auto first = watched.evaluate(), second = watched.evaluate();
    CHECK(first.loss == second.loss);
    CHECK(watched.model()->is_training());
    CHECK(plain.advance().loss == watched.advance().loss);
  }
  CHECK(equal_bits(weights_of(*plain.model()), weights_of(*watched.model())));
}

TEST_CASE("Dropout acts in training: other seeds of it give other losses", "[train][session][torch]") {
  auto config = with_dropout();
  Session dropped(config);
  config.model.block.dropout = 0;
  config.model.embedding_dropout = 0;
  std::get<SoftmaxAttentionConfig>(config.model.block.attention).dropout = 0;
  Session whole(config);
  CHECK(dropped.evaluate().loss == whole.evaluate().loss);
  CHECK(dropped.advance().loss != whole.advance().loss);
}

TEST_CASE("Training on stories lowers the loss, and both parts of it are reported", "[train][session][torch]") {
  auto config = tiny_run();
  std::get<AdamwConfig>(config.train.optimizer).lr = 1e-2;
  config.train.steps = 40;
  Session session(config);
  const auto before = session.evaluate();
  for (int i = 0; i < 40; ++i) session.advance();
  const auto after = session.evaluate();
  CHECK(before.loss == Approx(std::log(256.0)).margin(0.05));
  CHECK(after.loss < before.loss - 1.5);
  CHECK(*after.bits_per_byte == Approx(after.loss / std::log(2.0)));
  REQUIRE(after.elsewhere);
  CHECK(*after.elsewhere < *before.elsewhere);
  CHECK(*after.bits_per_byte_of(after.repeated_names) == Approx(*after.repeated_names / std::log(2.0)));
  CHECK(*after.bits_per_byte_of(after.elsewhere) == Approx(*after.elsewhere / std::log(2.0)));
  CHECK_FALSE(EvalResult{.loss = 1, .bits_per_byte = 1.4}.bits_per_byte_of({}));
}

TEST_CASE("The update of step 1 has a rate above zero and moves the weights", "[train][session][torch]") {
  auto config = tiny_run();
  config.train.schedule = LinearSchedule{.warmup = 4};
  Session session(config);
  const auto before = copy_of(weights_of(*session.model()));
  CHECK(session.advance().lr == Approx(std::get<AdamwConfig>(config.train.optimizer).lr / 4));
  CHECK_FALSE(equal_bits(before, weights_of(*session.model())));
}

TEST_CASE("A loss that is not finite stops before the update", "[train][session][torch]") {
  Session session(tiny_run());
  {
    const at::NoGradGuard no_grad;
    session.model()->named_parameters()["head.weight"].fill_(std::numeric_limits<float>::infinity());
  }
  const auto weights = copy_of(weights_of(*session.model()));
  const auto moments = copy_of(session.optimizer().state());
  CHECK_FALSE(session.advance().finite);
  CHECK(session.steps_done() == 0);
  CHECK(equal_bits(moments, session.optimizer().state()));
  for (const auto& [name, tensor] : weights_of(*session.model()))
    CHECK(tensor.nan_to_num().equal(weights.at(name).nan_to_num()));
}

TEST_CASE("bfloat16 training sees weights as they are now, not as they were", "[train][session][torch]") {
  auto config = tiny_run();
  config.train.precision = Precision::kBfloat16;
  std::get<AdamwConfig>(config.train.optimizer).lr = 1e-2;
  Session session(config);
  const auto before = session.evaluate().loss;
  for (int i = 0; i < 10; ++i) session.advance();
  const auto after = session.evaluate().loss;
  CHECK(after < before - 0.3);
  Session fresh(config);
  load_weights(*fresh.model(), copy_of(weights_of(*session.model())), "memory");
  CHECK(fresh.evaluate().loss == after);
  for (const auto& [name, tensor] : weights_of(*session.model())) CHECK(tensor.scalar_type() == at::kFloat);
}

TEST_CASE("Gradient norms by layer at step 0 join to the norm of the first update", "[train][session][torch]") {
  auto config = tiny_run();
  config.train.clip = 0;
  Session session(config);
  const auto norms = session.first_gradient_norms();
  CHECK(norms.count("blocks.0") == 1);
  CHECK(norms.count("blocks.1") == 1);
  CHECK(norms.count("head") == 1);
  double squares = 0;
  for (const auto& [layer, norm] : norms) squares += norm * norm;
  CHECK(session.advance().gradient_norm == Approx(std::sqrt(squares)).epsilon(1e-5));
}

TEST_CASE("Asking for CUDA where there is none is refused", "[train][session][error][torch]") {
  if (at::hasCUDA()) {
    CHECK(pick_device(DeviceChoice::kCuda).is_cuda());
    return;
  }
  CHECK_THROWS_WITH(pick_device(DeviceChoice::kCuda), Catch::Matchers::ContainsSubstring("train.device"));
  CHECK(pick_device(DeviceChoice::kAuto).is_cpu());
}

}  // namespace blockzoo
