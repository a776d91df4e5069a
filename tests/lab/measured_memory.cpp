#include "blockzoo/lab/account.h"
#include "blockzoo/train/session.h"
#include "lab/allocations.h"
#include "support/catch.h"
#include "support/covering.h"
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

/// In both precisions, with both kinds of kernels.
void check_account(const ModelConfig& model, int64_t batch) {
  for (const auto precision : {Precision::kFloat32, Precision::kBfloat16}) {
    for (const auto kernels : {Kernels::kFast, Kernels::kReference}) {
      INFO(name_of(precision) << " " << name_of(kernels));
      auto config = tiny_run();
      config.model = model;
      config.train.batch = batch;
      config.train.precision = precision;
      config.train.kernels = kernels;
      const auto kept = kernels == Kernels::kFast ? KeptActivations::kFused : KeptActivations::kReference;
      const auto account = account_of(model, {.batch = batch, .precision = precision, .kept = kept});
      CHECK(account.update->peak == Approx(measured_bytes(config)).epsilon(0.1));
    }
  }
}

const std::vector<std::string> main_kinds{
    "{}",
    "{tied: true}",
    "{block: {attention: {heads: 4, kv_heads: 2}}}",
    "{block: {attention: {heads: 4, kv_heads: 1, qk_norm: {kind: head}}}}",
    "{block: {attention: {kind: latent, heads: 4}}}",
    "{block: {attention: {heads: 4, window: 16}}}",
    "{block: {attention: {heads: 4, softcap: 30}}, final_softcap: 30}",
    "{block: {attention: {heads: 4, dropout: 0.1}, dropout: 0.1}, embedding_dropout: 0.1}",
    "{block: {layout: {kind: post_norm}, norm: {kind: layer_norm}, ffn: {kind: mlp}, position: {kind: learned}}}",
    "{block: {layout: {kind: parallel}, position: {kind: alibi}}}",
    "{block: {layout: {kind: double_norm}, position: {kind: relative_bias}}}"};

}  // namespace

TEST_CASE("The account of an update is within a tenth of the most bytes alive in one",
          "[lab][account][memory][torch]") {
  const auto base = parse_yaml("{vocabulary: 256, width: 64, layers: 4, context: 64}", "base");
  for (const auto& kind : main_kinds) {
    INFO(kind);
    check_account(read_config<ModelConfig>(overlay(base, parse_yaml(kind, "kind"))), /*batch=*/8);
  }
}

TEST_CASE("So it is where weights and gradients are most of it", "[lab][account][memory][torch]") {
  for (const std::string tied : {"false", "true"})
    check_account(from_yaml<ModelConfig>("{vocabulary: 2000, width: 96, layers: 2, context: 16, tied: " + tied + "}"),
                  /*batch=*/1);
}

TEST_CASE("So it is for any two values of the zoo", "[lab][account][memory][covering][slow][torch]") {
  for (auto [name, model] : covering_models()) {
    INFO(name);
    model.vocabulary = 256;
    model.width = 64;
    model.context = 64;
    check_account(model, /*batch=*/8);
  }
}

}  // namespace blockzoo
