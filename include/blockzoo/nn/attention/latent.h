#pragma once

#include <algorithm>
#include <optional>

#include "blockzoo/nn/attention/base.h"
#include "blockzoo/nn/norm.h"

namespace blockzoo {

/// Multi-head latent attention (MLA). Keys and values come from one latent vector c = norm(W_dkv x); a further key of
/// rope_width channels, one for all heads, carries the rotation:
///   [k_h, v_h] = W_ukv c,  k = [k_h, rotate(k_r)],  q = [q_h, rotate(q_hr)],  scale = 1 / sqrt(nope_width +
///   rope_width).
/// Source: DeepSeek-AI 2024, arXiv:2405.04434.
struct LatentAttentionConfig {
  using Impl = class LatentAttentionImpl;
  static constexpr std::string_view kind = "latent";
  static constexpr std::string_view summary =
      "keys and values from one latent vector, a shared rotary key beside it (MLA)";
  static constexpr std::string_view source = "DeepSeek-AI 2024, arXiv:2405.04434";

  int64_t heads = 8;
  int64_t query_rank = 0;
  std::optional<int64_t> key_value_rank;
  std::optional<int64_t> nope_width;
  std::optional<int64_t> rope_width;
  std::optional<int64_t> value_width;
  NormConfig latent_norm;
  int64_t window = 0;
  double softcap = 0;
  std::optional<double> scale;
  double dropout = 0;
  bool output_bias = false;
  NormConfig value_norm = NoNormConfig{};
  bool reuse_keys_values = false;

  static void fields(auto& self, auto& visit) {
    visit("heads", self.heads, tensor_size, "query heads H");
    visit("query_rank", self.query_rank, tensor_size_or_none,
          "width of the queries' latent; 0 means queries come straight from x");
    visit("key_value_rank", self.key_value_rank, tensor_size,
          "width of the keys' and values' latent; auto is width / 4");
    visit("nope_width", self.nope_width, tensor_size, "channels of a head without rotation; auto is width / heads");
    visit("rope_width", self.rope_width, tensor_size,
          "channels of a head with rotation; auto is half of nope_width, made even");
    visit("value_width", self.value_width, tensor_size, "channels of a value head; auto is width / heads");
    visit("latent_norm", self.latent_norm, "norm of the latent vectors");
    visit("window", self.window, not_negative, "keys a query sees, itself included; 0 means all before it");
    visit("softcap", self.softcap, not_negative, "scores become c tanh(score / c); 0 means off");
    visit("scale", self.scale, positive, "factor of the scores; auto is 1 / sqrt(nope_width + rope_width)");
    visit("dropout", self.dropout, dropout_rate, "share of attention weights dropped in training");
    visit("output_bias", self.output_bias, "the output projection has a bias");
    visit("value_norm", self.value_norm, "norm of values, over each head's channels");
    visit("reuse_keys_values", self.reuse_keys_values,
          "keys and values are those of the last layer before that has its own, of equal attention and position");
  }

  int64_t latent_width(int64_t model) const { return key_value_rank.value_or(std::max<int64_t>(1, model / 4)); }
  int64_t still_width(int64_t model) const { return nope_width.value_or(model / heads); }
  int64_t rotary_width(int64_t model) const {
    return rope_width.value_or(std::max<int64_t>(2, still_width(model) / 4 * 2));
  }
  int64_t width_of_value(int64_t model) const { return value_width.value_or(model / heads); }
  LatentAttentionConfig resolved(int64_t model) const;
};

/// Parameters: query [H (Kn + Kr), D], or query_down [query_rank, D], query_norm, query_up [H (Kn + Kr), query_rank];
///             key_value_down [latent + Kr, D], key_value_norm, key_value_up [H (Kn + Kv), latent]; output [D, H Kv];
///             value_norm [Kv] as the norm says. Of these only query and output with reuse_keys_values.
/// Precision:  softmax in float32 or wider.
class LatentAttentionImpl final : public AttentionImpl {
 public:
  LatentAttentionImpl(const LatentAttentionConfig& config, const Dims& dims);
  Tensor forward(const Tensor& x, const Context& context) override;

 private:
  Tensor queries(const Tensor& x);  // [B, T, H, Kn + Kr]
  KeysValues keys_values(const Tensor& x, const Context& context);

  const LatentAttentionConfig config_;
  const int64_t latent_, still_, rotary_, value_;
  Linear query_{nullptr}, query_down_{nullptr}, query_up_{nullptr}, output_{nullptr};
  Linear key_value_down_{nullptr}, key_value_up_{nullptr};
  Norm query_norm_{nullptr}, key_value_norm_{nullptr}, value_norm_{nullptr};
};

}  // namespace blockzoo
