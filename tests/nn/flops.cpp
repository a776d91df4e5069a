#include "blockzoo/nn/flops.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include "blockzoo/kernels/choice.h"
#include "blockzoo/nn/model.h"
#include "support/catch.h"
#include "support/from_yaml.h"
#include "support/golden.h"

namespace blockzoo {
namespace {

/// Operations of every matrix product that LibTorch computes on this thread while the object lives.
class ProductCounter {
 public:
  ProductCounter() {
    counted = 0;
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&see).needsInputs(true));
  }
  ~ProductCounter() { at::removeCallback(handle_); }
  ProductCounter(const ProductCounter&) = delete;
  ProductCounter& operator=(const ProductCounter&) = delete;

  double flops() const { return counted; }

 private:
  /// a [..., m, k] times b [..., k, n]; the sum of addmm stands before them.
  static std::unique_ptr<at::ObserverContext> see(const at::RecordFunction& function) {
    const std::string name = function.name();
    const bool sums = name == "aten::addmm" || name == "aten::baddbmm";
    if (!sums && name != "aten::mm" && name != "aten::bmm") return nullptr;
    const auto inputs = function.inputs();
    const auto a = inputs[sums ? 1 : 0].toTensor(), b = inputs[sums ? 2 : 1].toTensor();
    counted += 2 * static_cast<double>(a.numel()) * static_cast<double>(b.size(-1));
    return nullptr;
  }

  static thread_local inline double counted = 0;
  const KernelScope kernels_{Kernels::kReference};  // whose products are LibTorch's
  at::CallbackHandle handle_ = 0;
};

/// Relative positions are projected once for a whole batch, so these are counted with one sequence in it.
const std::vector<std::string> relative_models{
    "{width: 24, layers: 2, block: {attention: {heads: 4, kv_heads: 2}, position: {kind: transformer_xl}}}",
    "{width: 24, layers: 2, block: {attention: {kind: latent, heads: 3, rope_width: 4}, position: {kind: "
    "transformer_xl, biases: false}}}"};

/// The soft cap makes LibTorch write the scores out as matrix products.
const std::string capped = "softcap: 50";

const std::vector<std::string> models{
    "{width: 24, layers: 2, block: {attention: {heads: 4, " + capped + "}}}",
    "{width: 24, layers: 2, tied: true, block: {attention: {heads: 4, kv_heads: 2, " + capped + "}}}",
    "{width: 24, layers: 2, head_bias: true, block: {attention: {heads: 4, kv_heads: 1, query_bias: true, " + capped +
        "}, ffn: {kind: mlp, bias: true}}}",
    "{width: 24, layers: 1, block: {attention: {heads: 3, head_width: 10, " + capped + "}, ffn: {hidden: 7}}}",
    "{width: 24, layers: 2, block: {attention: {kind: latent, heads: 4, " + capped + "}}}",
    "{width: 24, layers: 2, block: {attention: {kind: latent, heads: 4, query_rank: 5, key_value_rank: 7, nope_width: "
    "6, rope_width: 4, value_width: 9, " +
        capped + "}, layout: {kind: parallel}}}",
    "{width: 24, layers: 2, embedding_width: 10, block: {attention: {heads: 4, window: 3, " + capped +
        "}, position: {kind: learned}}}",
    "{width: 24, layers: 2, embedding_width: 10, tied: true, block: {attention: {heads: 4, " + capped +
        "}, position: {kind: relative_bias}}}",
    "{width: 24, layers: 4, block: {attention: {heads: 4, window: 3, qk_norm: {kind: full}, " + capped +
        "}}, overrides: [{layers: '1::2', block: {attention: {window: 0, kv_heads: 2}}}, {layers: [3], block: {ffn: "
        "{kind: mlp, hidden: 5}}}, {layers: [0], block: {attention: {kind: latent, heads: 2, " +
        capped + "}}}]}",
    "{width: 24, layers: 3, layer_embedding_width: 5, block: {attention: {heads: 4, keys_as_values: true, " + capped +
        "}}, overrides: [{layers: [1, 2], block: {attention: {reuse_keys_values: true}, ffn: {hidden: 9}}}]}",
    "{width: 24, layers: 2, block: {attention: {kind: latent, heads: 4, query_rank: 5, " + capped +
        "}, output_factor: true}, overrides: [{layers: [1], block: {attention: {reuse_keys_values: true}}}]}"};

ModelConfig gpt2(int64_t layers, int64_t width, int64_t heads, int64_t hidden, int64_t context = 1024) {
  ModelConfig config;
  config.vocabulary = 50257;
  config.context = context;
  config.layers = layers;
  config.width = width;
  std::get<SoftmaxAttentionConfig>(config.block.attention).heads = heads;
  std::get<GluConfig>(config.block.ffn).hidden = hidden;
  return config;
}

/// Four significant digits, as the published figures have them.
std::string shown(double value) {
  std::ostringstream text;
  text << std::setprecision(4) << value;
  return text.str();
}

ModelConfig counted_config(const std::string& yaml) {
  auto config = from_yaml<ModelConfig>(yaml);
  config.vocabulary = 19;
  config.context = 8;
  return config;
}

/// Operations of the matrix products in a forward pass over `batch` sequences of 8 tokens.
double executed_flops(const std::string& yaml, int64_t batch) {
  Model model(counted_config(yaml));
  model->init_parameters(0);
  const at::NoGradGuard no_grad;
  const ProductCounter counter;
  model->forward(at::zeros({batch, 8}, at::kLong));
  return counter.flops();
}

}  // namespace

TEST_CASE("The operations of a small model are the published ones, part by part", "[nn][flops][torch]") {
  const auto flops = forward_flops(
      from_yaml<ModelConfig>("{vocabulary: 10000, context: 256, width: 512, layers: 4, block: {attention: {heads: 16}, "
                             "ffn: {hidden: 1344}}}"),
      256);
  const auto giga = [](double value) { return std::round(value / 1e6) / 1e3; };
  CHECK(giga(flops.query_key_value) == 1.611);
  CHECK(giga(flops.attention_output) == 0.537);
  CHECK(giga(flops.scores) == 0.268);
  CHECK(giga(flops.values) == 0.268);
  CHECK(giga(flops.ffn) == 4.228);
  CHECK(giga(flops.head) == 2.621);
  CHECK(flops.table_projections == 0);
  CHECK(giga(flops.total()) == 9.534);
}

TEST_CASE("Models of GPT-2's shapes take the published operations", "[nn][flops][torch]") {
  const auto total = [](const ModelConfig& config) { return shown(forward_flops(config, config.context).total()); };
  CHECK(total(gpt2(12, 768, 12, 2048)) == "2.916e+11");
  CHECK(total(gpt2(24, 1024, 16, 2752)) == "8.302e+11");
  CHECK(total(gpt2(36, 1280, 20, 3392)) == "1.769e+12");
  CHECK(total(gpt2(48, 1600, 25, 4288)) == "3.517e+12");
  CHECK(total(gpt2(12, 768, 12, 3072)) == "3.496e+11");
  CHECK(total(gpt2(24, 1024, 16, 4096)) == "1.033e+12");
  CHECK(total(gpt2(36, 1280, 20, 5120)) == "2.258e+12");
  CHECK(total(gpt2(48, 1600, 25, 6400)) == "4.513e+12");
  const auto longest = gpt2(48, 1600, 25, 4288, 16384);
  CHECK(total(longest) == "1.336e+14");
  const auto flops = forward_flops(longest, 16384);
  CHECK(std::round(1000 * (flops.scores + flops.values) / flops.total()) == 617);
}

TEST_CASE("The operations are those that PyTorch's FlopCounterMode counts on transformers' models",
          "[nn][flops][golden][torch]") {
  for (const auto& one : golden("flops")["cases"]) {
    INFO(one["name"]);
    const auto config = from_yaml<ModelConfig>(one["model"].dump());
    CHECK(forward_flops(config, one["tokens"]).total() == one["forward"]);
    CHECK(training_flops(config, 1) == one["training"]);
  }
}

TEST_CASE("The operations are those of the matrix products that a real forward computes", "[nn][flops][torch]") {
  for (const auto& yaml : models) {
    INFO(yaml);
    CHECK(forward_flops(counted_config(yaml), 8).total() == executed_flops(yaml, 2) / 2);
  }
}

TEST_CASE("The operations of relative positions are those that a real forward computes", "[nn][flops][torch]") {
  for (const auto& yaml : relative_models) {
    INFO(yaml);
    CHECK(forward_flops(counted_config(yaml), 8).total() == executed_flops(yaml, 1));
  }
}

TEST_CASE("All but scores and values is 2 for each number of a matrix that a token passes", "[nn][flops][torch]") {
  for (const auto& yaml : models) {
    INFO(yaml);
    const auto config = from_yaml<ModelConfig>(yaml);
    double numbers = 0;
    for (const auto& item : Model(config)->named_parameters()) {
      const auto& name = item.key();
      const bool looked_up = name.starts_with("position") || name == "layer_embedding.table.weight" ||
                             (name == "embedding.weight" && !config.tied);
      if (name.ends_with(".weight") && !looked_up) numbers += static_cast<double>(item.value().numel());
    }
    const auto flops = forward_flops(config, 5);
    CHECK(flops.total() - flops.scores - flops.values == 2 * 5 * numbers);
  }
}

TEST_CASE("The second figure counts the pairs that causal mask and window let through", "[nn][flops][torch]") {
  constexpr int64_t length = 11;
  const int64_t window = GENERATE(0, 1, 4, 10, 11, 12, 50);
  auto config = from_yaml<ModelConfig>("{width: 24, layers: 1, block: {attention: {heads: 4, kv_heads: 2}}}");
  std::get<SoftmaxAttentionConfig>(config.block.attention).window = window;
  int64_t pairs = 0;
  for (int64_t query = 0; query < length; ++query) {
    for (int64_t key = 0; key <= query; ++key) pairs += window == 0 || query - key < window ? 1 : 0;
  }
  const auto all = forward_flops(config, length), visible = forward_flops(config, length, AttentionPairs::kVisible);
  CHECK(all.scores == 2 * 24 * length * length);
  CHECK(all.values == 2 * 24 * length * length);
  CHECK(visible.scores == static_cast<double>(2 * 24 * pairs));
  CHECK(visible.values == static_cast<double>(2 * 24 * pairs));
  CHECK(visible.total() - visible.scores - visible.values == all.total() - all.scores - all.values);
  CHECK(name_of(AttentionPairs::kAll) == "all pairs");
  CHECK(name_of(AttentionPairs::kVisible) == "visible pairs");
}

TEST_CASE("Training takes three forwards for each sequence, also where the total is beyond 64 bits",
          "[nn][flops][torch]") {
  const auto config = gpt2(48, 1600, 25, 6400);
  const auto forward = forward_flops(config, 1024).total();
  CHECK(training_flops(config, 1) == 3 * forward);
  CHECK(training_flops(config, 1'000'000'000) == Approx(3e9 * forward));
}

TEST_CASE("Counting takes no memory, and a config that does not fit together is refused", "[nn][flops][torch][error]") {
  const auto huge = from_yaml<ModelConfig>(
      "{vocabulary: 1000000, width: 100000, layers: 1000, context: 64, block: {attention: {heads: 100}}}");
  CHECK(forward_flops(huge, 64).total() > 1e16);
  ModelConfig wrong;
  std::get<SoftmaxAttentionConfig>(wrong.block.attention).heads = 3;
  CHECK_THROWS_AS(forward_flops(wrong, 64), ConfigError);
}

}  // namespace blockzoo
