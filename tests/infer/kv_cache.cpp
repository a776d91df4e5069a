#include "blockzoo/infer/kv_cache.h"

#include "support/covering.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

constexpr Tolerance kSameLogits{1e-4, 1e-4};

Model ramp_model(const ModelConfig& config) {
  Model model(config);
  fill_with_ramp(*model);  // matrices of unit gain, so that attention is not flat
  model->eval();
  return model;
}

/// The logits of tokens [B, T] read in chunks, [B, T, V].
Tensor read_in_chunks(Model& model, const Tensor& tokens, int64_t chunk, KvCache& cache) {
  std::vector<Tensor> parts;
  for (int64_t first = 0; first < tokens.size(1); first += chunk) {
    const auto part = tokens.slice(1, first, first + chunk);
    parts.push_back(model->logits(model->hidden(part, cache.next(part.size(1)))));
  }
  return at::cat(parts, 1);
}

Tensor some_tokens(int64_t rows, int64_t length) {
  return (at::arange(rows * length).square() + 3 * at::arange(rows * length)).remainder(17).view({rows, length});
}

KvCache cache_for(const Model& model, int64_t columns, int64_t chunk, const std::vector<int64_t>& absent) {
  return {model->config(), {.columns = columns, .chunk = chunk}, absent, at::kCPU};
}

ModelConfig one_layer(const std::string& attention) {
  return from_yaml<ModelConfig>("{vocabulary: 17, width: 16, layers: 1, context: 64, block: {attention: {" + attention +
                                "}}}");
}

/// Bytes for each column and row of a cache that has read 40 tokens in chunks of 5.
double bytes_per_column(const std::string& attention, double columns) {
  const at::NoGradGuard no_grad;
  auto model = ramp_model(one_layer(attention));
  auto cache = cache_for(model, 64, 5, {0, 0});
  CHECK(cache.bytes() == 0);
  read_in_chunks(model, some_tokens(2, 40), 5, cache);
  return static_cast<double>(cache.bytes()) / columns / 2 / sizeof(float);
}

}  // namespace

TEST_CASE(
    "with kept keys and values the logits are those of the full forward, for every two values of the zoo and "
    "chunks of every size",
    "[infer][torch][contract][covering]") {
  const at::NoGradGuard no_grad;
  const auto tokens = some_tokens(2, 12);
  for (const auto& [name, config] : covering_models()) {
    INFO(name);
    auto model = ramp_model(config);
    const auto expected = model->forward(tokens);
    for (int64_t chunk = 1; chunk <= 12; ++chunk) {
      INFO("chunks of " << chunk);
      auto cache = cache_for(model, 12, chunk, {0, 0});
      check_near("logits", read_in_chunks(model, tokens, chunk, cache), expected, kSameLogits);
      CHECK(cache.columns() == 12);
    }
  }
}

TEST_CASE("sequences of unequal lengths in one batch have the logits that each has alone, also when some leave",
          "[infer][torch][contract][covering]") {
  const at::NoGradGuard no_grad;
  const std::vector<int64_t> lengths{8, 3, 1, 5};
  int64_t turn = 0;
  for (const auto& [name, config] : covering_models()) {
    INFO(name);
    auto model = ramp_model(config);
    const auto tokens = some_tokens(4, 12);
    auto aligned = at::zeros({4, 8}, at::kLong);
    std::vector<int64_t> absent;
    for (int64_t row = 0; row < 4; ++row) {
      const auto length = lengths[static_cast<size_t>(row)];
      aligned[row].slice(0, 8 - length).copy_(tokens[row].slice(0, 0, length));
      absent.push_back(8 - length);
    }
    const auto chunk = 1 + turn++ % 8;
    INFO("chunks of " << chunk);
    auto cache = cache_for(model, 12, chunk, absent);
    const auto logits = read_in_chunks(model, aligned, chunk, cache);
    const auto alone = [&](int64_t row, int64_t length) {
      return model->forward(tokens[row].slice(0, 0, length).unsqueeze(0))[0];
    };
    for (int64_t row = 0; row < 4; ++row) {
      const auto length = lengths[static_cast<size_t>(row)];
      check_near("row " + std::to_string(row), logits[row].slice(0, 8 - length), alone(row, length), kSameLogits);
    }
    const std::vector<int64_t> order{3, 1, 1};
    cache.keep_rows(order);
    CHECK(cache.columns() == 5);
    std::vector<Tensor> read, expected;
    for (int64_t step = 0; step < 3; ++step) {
      std::vector<Tensor> next;
      for (const auto row : order) next.push_back(tokens[row].narrow(0, lengths[static_cast<size_t>(row)] + step, 1));
      read.push_back(read_in_chunks(model, at::stack(next), 1, cache));
    }
    for (const auto row : order) {
      const auto length = lengths[static_cast<size_t>(row)];
      expected.push_back(alone(row, length + 3).slice(0, length));
    }
    check_near("after some rows have left", at::cat(read, 1), at::stack(expected), kSameLogits);
  }
}

TEST_CASE("a cache holds the heads of keys and values, the latent and its rotary key, and a window's columns alone",
          "[infer][torch][identity]") {
  // Numbers for each token: keys and values of G heads of width 4; latent 6 and rotary key 2.
  CHECK(bytes_per_column("kind: softmax, heads: 4", 64) == 2 * 4 * 4);
  CHECK(bytes_per_column("kind: softmax, heads: 4, kv_heads: 2", 64) == 2 * 2 * 4);
  CHECK(bytes_per_column("kind: softmax, heads: 4, kv_heads: 1", 64) == 2 * 1 * 4);
  CHECK(bytes_per_column("kind: latent, heads: 4, key_value_rank: 6, rope_width: 2", 64) == 6 + 2);
  // A window of 9 keeps 8 columns before a chunk of 5.
  CHECK(bytes_per_column("kind: softmax, heads: 4, kv_heads: 2, window: 9", 8 + 5) == 2 * 2 * 4);
  CHECK(bytes_per_column("kind: latent, heads: 4, key_value_rank: 6, rope_width: 2, window: 9", 8 + 5) == 6 + 2);
  // One that is longer than everything that is read costs no more than none.
  CHECK(bytes_per_column("kind: softmax, heads: 4, window: 500", 64) == 2 * 4 * 4);
}

TEST_CASE("a cache refuses more than it has room for", "[infer][torch][error]") {
  const at::NoGradGuard no_grad;
  auto model = ramp_model(one_layer("kind: softmax, heads: 4"));
  auto cache = cache_for(model, 6, 4, {0});
  CHECK_THROWS_WITH(cache.next(5), Catch::Matchers::ContainsSubstring("[kv_cache]"));
  read_in_chunks(model, some_tokens(1, 4), 4, cache);
  CHECK_THROWS_WITH(read_in_chunks(model, some_tokens(1, 3), 3, cache),
                    Catch::Matchers::ContainsSubstring("room for 6 columns, not for 7"));
}

}  // namespace blockzoo
