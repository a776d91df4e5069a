#include "hub/transformers/rotary_rows.h"

#include <ATen/ATen.h>

namespace blockzoo {
namespace {

RopePositionConfig* rope_to_change(BlockConfig& block, RopePairing pairing) {
  auto* rope = std::get_if<RopePositionConfig>(&block.position);
  return rope != nullptr && rope->pairing != pairing ? rope : nullptr;
}

/// Where heads lie along a dimension, and which of their channels turn.
struct Heads {
  int64_t count;
  int64_t width;
  int64_t still;  // channels before those that turn
  int64_t turning;
};

/// New channel to old channel: [count * width].
at::Tensor order(const Heads& heads, RopePairing pairing) {
  const auto half = heads.turning / 2;
  std::vector<int64_t> channels;
  for (int64_t head = 0; head < heads.count; ++head) {
    for (int64_t i = 0; i < heads.width; ++i) {
      const auto turning = i - heads.still;
      auto from = i;
      if (turning >= 0 && turning < heads.turning)
        from = heads.still +
               (pairing == RopePairing::kHalf ? turning % half * 2 + turning / half : turning % 2 * half + turning / 2);
      channels.push_back(head * heads.width + from);
    }
  }
  return at::tensor(channels, at::kLong);
}

struct Reorder {
  RopePairing pairing;
  const RopePositionConfig& rope;
  int64_t model;
  std::string prefix;  // "blocks.3.attention."
  Tensors& parameters;

  void rows(const std::string& name, const Heads& heads) const {
    for (const char* part : {".weight", ".bias"}) {
      const auto found = parameters.find(prefix + name + part);
      if (found != parameters.end())
        found->second = found->second.index_select(0, order(heads, pairing).to(found->second.device()));
    }
  }
  /// Gains of a norm over one head or over all of them; single numbers stay.
  void norm(const std::string& name, Heads heads) const {
    for (const char* part : {".gain", ".bias"}) {
      const auto found = parameters.find(prefix + name + part);
      if (found == parameters.end() || found->second.size(-1) == 1) continue;
      if (found->second.size(-1) == heads.width) heads.count = 1;
      found->second = found->second.index_select(-1, order(heads, pairing).to(found->second.device()));
    }
  }

  void operator()(const SoftmaxAttentionConfig& attention) const {
    const auto width = attention.width_of_head(model);
    Heads heads{attention.heads, width, 0, rotary_channels(rope, width)};
    rows("query", heads);
    norm("query_norm", heads);
    heads.count = attention.key_heads();
    rows("key", heads);
    norm("key_norm", heads);
  }
  void operator()(const LatentAttentionConfig& attention) const {
    const auto width = attention.rotary_width(model), still = attention.still_width(model);
    const auto turning = rotary_channels(rope, width);
    const Heads queries{attention.heads, still + width, still, turning};
    rows(attention.query_rank == 0 ? "query" : "query_up", queries);
    const auto latent = attention.latent_width(model);
    rows("key_value_down", {1, latent + width, latent, turning});
  }
};

}  // namespace

std::optional<Stack> with_pairing(const Stack& stack, RopePairing pairing) {
  auto changed = stack;
  bool any = false;
  for (auto& block : changed.layers) {
    if (auto* rope = rope_to_change(block, pairing)) {
      const auto* softmax = std::get_if<SoftmaxAttentionConfig>(&block.attention);
      if (softmax != nullptr && softmax->keys_as_values) return std::nullopt;  // values would change their order too
      rope->pairing = pairing;
      any = true;
    }
  }
  return any ? std::optional(changed) : std::nullopt;
}

Tensors in_pairing(const Stack& stack, RopePairing pairing, Tensors parameters) {
  for (size_t layer = 0; layer < stack.layers.size(); ++layer) {
    auto block = stack.layers[layer];
    if (const auto* rope = rope_to_change(block, pairing)) {
      const auto prefix = "blocks." + std::to_string(layer) + ".attention.";
      std::visit(Reorder{pairing, *rope, stack.model.width, prefix, parameters}, block.attention);
    }
  }
  return parameters;
}

}  // namespace blockzoo
