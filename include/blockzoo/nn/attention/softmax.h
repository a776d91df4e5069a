#pragma once

#include <optional>

#include "blockzoo/nn/attention/base.h"
#include "blockzoo/nn/attention/qk_norm.h"

namespace blockzoo {

/// Softmax attention: y = W_o concat_h softmax(scale * q_h k_g(h)^T + bias, causal) v_g(h), g(h) = floor(h G / H).
/// One kind covers multi-head (kv_heads = heads; Vaswani et al. 2017, arXiv:1706.03762), grouped (Ainslie et al. 2023,
/// arXiv:2305.13245) and multi-query (kv_heads = 1; Shazeer 2019, arXiv:1911.02150) attention. Window: Beltagy et al.
/// 2020, arXiv:2004.05150. Soft cap: Gemma team 2024, arXiv:2408.00118. Keys and values of an earlier layer: Brandon et
/// al. 2024, arXiv:2405.12981; these, keys as values and the norm of values as in Gemma 4 (Google 2026).
struct SoftmaxAttentionConfig {
  using Impl = class SoftmaxAttentionImpl;
  static constexpr std::string_view kind = "softmax";
  static constexpr std::string_view summary =
      "softmax(scale * q k^T) v; kv_heads = heads is multi-head, fewer grouped-query, 1 multi-query";
  static constexpr std::string_view source =
      "Vaswani et al. 2017, arXiv:1706.03762; Shazeer 2019, arXiv:1911.02150; Ainslie et al. 2023, arXiv:2305.13245";

  int64_t heads = 8;
  std::optional<int64_t> kv_heads;
  std::optional<int64_t> head_width;
  int64_t window = 0;
  QkNormConfig qk_norm;
  double softcap = 0;
  std::optional<double> scale;
  double dropout = 0;
  bool query_bias = false;
  bool key_bias = false;
  bool value_bias = false;
  bool output_bias = false;
  bool keys_as_values = false;
  NormConfig value_norm = NoNormConfig{};
  bool reuse_keys_values = false;

  static void fields(auto& self, auto& visit) {
    visit("heads", self.heads, tensor_size, "query heads H");
    visit("kv_heads", self.kv_heads, tensor_size, "key and value heads G; auto is heads");
    visit("head_width", self.head_width, tensor_size, "channels of a head K; auto is width / heads");
    visit("window", self.window, not_negative, "keys a query sees, itself included; 0 means all before it");
    visit("qk_norm", self.qk_norm, "norm of queries and keys");
    visit("softcap", self.softcap, not_negative, "scores become c tanh(score / c); 0 means off");
    visit("scale", self.scale, positive, "factor of the scores; auto is 1 / sqrt(K)");
    visit("dropout", self.dropout, dropout_rate, "share of attention weights dropped in training");
    visit("query_bias", self.query_bias, "the query projection has a bias");
    visit("key_bias", self.key_bias, "the key projection has a bias");
    visit("value_bias", self.value_bias, "the value projection has a bias");
    visit("output_bias", self.output_bias, "the output projection has a bias");
    visit("keys_as_values", self.keys_as_values, "values are the keys as projected, without a matrix of their own");
    visit("value_norm", self.value_norm, "norm of values, over each head's channels");
    visit("reuse_keys_values", self.reuse_keys_values,
          "keys and values are those of the last layer before that has its own, of equal attention and position");
  }
  static void rules(const auto& self, auto& expect) {
    expect(!self.kv_heads || self.heads % *self.kv_heads == 0, "kv_heads",
           "must divide heads, which is " + std::to_string(self.heads));
    expect(!self.keys_as_values || !self.value_bias, "value_bias",
           "has no effect when keys_as_values is true; there is no value projection");
  }

  int64_t key_heads() const { return kv_heads.value_or(heads); }
  int64_t width_of_head(int64_t model) const { return head_width.value_or(model / heads); }
  int64_t rotary_width(int64_t model) const { return width_of_head(model); }
  SoftmaxAttentionConfig resolved(int64_t model) const;
};

/// Parameters: query [H K, D], key and value [G K, D], output [D, H K], with biases as the config says; query_norm,
///             key_norm and value_norm [K] as the norms say. No value with keys_as_values; neither key nor value nor
///             their norms with reuse_keys_values.
/// Precision:  softmax in float32 or wider.
class SoftmaxAttentionImpl final : public AttentionImpl {
 public:
  SoftmaxAttentionImpl(const SoftmaxAttentionConfig& config, const Dims& dims);
  Tensor forward(const Tensor& x, const Context& context) override;

 private:
  Tensor by_heads(const Tensor& x, int64_t heads) const;
  /// From what the projections make of x; undefined where they are another layer's.
  KeysValues keys_values(const Tensor& key, const Tensor& value, const Context& context);

  const SoftmaxAttentionConfig config_;
  const int64_t width_;  // K
  Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, output_{nullptr};
  Norm query_norm_{nullptr}, key_norm_{nullptr}, value_norm_{nullptr};
};

}  // namespace blockzoo
