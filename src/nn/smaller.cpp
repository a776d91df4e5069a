#include "blockzoo/nn/smaller.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "blockzoo/nn/model.h"
#include "core/reader.h"
#include "core/writer.h"

namespace blockzoo {
namespace {

/// size * factor, a whole number from `least` to size.
int64_t times(int64_t size, double factor, int64_t least = 1) {
  return std::min(size, std::max<int64_t>(least, std::llround(static_cast<double>(size) * factor)));
}

double ratio(int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

/// Layers of a stack: some that come once, then a pattern that repeats.
struct Pattern {
  size_t before = 0;
  size_t period = 1;
};

/// The pattern with the fewest layers before the end of its first period. Its last period may be cut short.
Pattern pattern_of(const std::vector<BlockConfig>& layers) {
  std::vector<Tree> trees;
  for (const auto& layer : layers) trees.push_back(to_tree(layer));
  for (size_t length = 1; length < trees.size(); ++length) {
    for (size_t period = 1; period <= length; ++period) {
      const auto start = trees.begin() + static_cast<std::ptrdiff_t>(length - period);
      if (std::equal(start + static_cast<std::ptrdiff_t>(period), trees.end(), start)) return {length - period, period};
    }
  }
  return {0, trees.size()};
}

/// Numbers of the layers that stay: whole periods, and of the layers before them all or as many as the factor leaves.
std::vector<size_t> layers_that_stay(const std::vector<BlockConfig>& layers, double factor, bool all_before) {
  const auto [before, period] = pattern_of(layers);
  const auto repeated = layers.size() - before;
  const auto whole_periods = [&](size_t count) {
    const auto periods = std::llround(factor * static_cast<double>(count) / static_cast<double>(period));
    return std::min(count, period * static_cast<size_t>(std::max<long long>(1, periods)));
  };
  std::vector<size_t> stay(all_before || before == 0 ? before : whole_periods(before));
  std::iota(stay.begin(), stay.end(), size_t{0});
  auto kept = whole_periods(repeated);
  if (stay.size() + kept == 1 && repeated > 1) kept = 2;
  for (size_t layer = 0; layer < kept; ++layer) stay.push_back(before + layer);
  return stay;
}

/// Whether every one of these layers that reuses keys and values finds some among them.
bool sources_stay(const std::vector<BlockConfig>& layers, const std::vector<size_t>& stay) {
  const auto found = [](const std::vector<BlockConfig>& all) {
    const auto sources = key_value_sources(all);
    return std::count_if(sources.begin(), sources.end(), [](const auto& source) { return source.has_value(); });
  };
  std::vector<BlockConfig> kept;
  for (const auto layer : stay) kept.push_back(layers[layer]);
  const auto reuses = [](const BlockConfig& block) {
    return std::visit([](const auto& attention) { return attention.reuse_keys_values; }, block.attention);
  };
  return found(kept) == std::count_if(kept.begin(), kept.end(), reuses);
}

/// Query heads come in multiples of this, so that every layer with grouped attention keeps H / G heads in each of at
/// least two groups. Multi-head and multi-query attention go with any number.
int64_t head_unit(const std::vector<BlockConfig>& layers) {
  int64_t unit = 1;
  for (const auto& layer : layers) {
    const auto* attention = std::get_if<SoftmaxAttentionConfig>(&layer.attention);
    if (attention == nullptr) continue;
    const auto group = attention->heads / attention->key_heads();
    const bool grouped = group > 1 && attention->key_heads() > 1;
    if (grouped) unit = std::lcm(unit, 2 * group);
  }
  return unit;
}

bool turns(const PositionConfig& position, int64_t width) {
  const auto* rope = std::get_if<RopePositionConfig>(&position);
  return rope == nullptr || (rope_problem(*rope, width).empty() && still_problem(*rope, width).empty());
}

/// One model's way down; `width` is known once the block's heads are.
class Shrinker {
 public:
  Shrinker(const ModelConfig& model, const SmallerSizes& sizes)
      : model_(model), factor_(sizes.factor), layers_(expand_layers(model)), unit_(head_unit(layers_)) {
    context_ = std::min(model.context, sizes.context);
    const auto layer_factor = sizes.layers / static_cast<double>(model.layers);
    stay_ = layers_that_stay(layers_, layer_factor, false);
    if (!sources_stay(layers_, stay_)) stay_ = layers_that_stay(layers_, layer_factor, true);
    width_ = smaller_width();
  }

  ModelConfig result(int64_t vocabulary) const {
    auto small = model_;
    small.vocabulary = std::min(model_.vocabulary, vocabulary);
    small.width = width_;
    small.context = context_;
    small.layers = static_cast<int64_t>(stay_.size());
    if (small.embedding_width) small.embedding_width = times(*model_.embedding_width, width_factor());
    if (small.layer_embedding_width > 0)
      small.layer_embedding_width = times(model_.layer_embedding_width, width_factor());
    small.block = smaller_block(model_.block);
    std::vector<BlockConfig> layers;
    for (const auto layer : stay_) layers.push_back(smaller_block(layers_[layer]));
    small.overrides = overrides_from(small.block, layers);
    return small;
  }

 private:
  double width_factor() const { return ratio(width_, model_.width); }
  double context_factor() const { return ratio(context_, model_.context); }

  int64_t smaller_heads(int64_t heads) const {
    const auto least = std::max<int64_t>(unit_, 2);
    const auto units = std::llround(static_cast<double>(heads) * factor_ / static_cast<double>(unit_));
    return std::min(heads, std::max(least, unit_ * static_cast<int64_t>(units)));
  }

  /// The least width from `wanted` on that the position encoding can turn; the old one, if none below it.
  int64_t smaller_head_width(const BlockConfig& block, int64_t old, double wanted) const {
    for (auto width = std::max<int64_t>(4, std::llround(wanted)); width < old; ++width) {
      if (turns(block.position, width)) return width;
    }
    return old;
  }

  /// The model's width, so that H K / D of the block stays as it was.
  int64_t smaller_width() const {
    const auto target = static_cast<double>(model_.width) * factor_;
    const auto* attention = std::get_if<SoftmaxAttentionConfig>(&model_.block.attention);
    if (attention == nullptr) {
      const auto heads = smaller_heads(position_dims(model_.block, {.model = model_.width}).heads);
      return std::min(model_.width, heads * std::max<int64_t>(2, std::llround(target / static_cast<double>(heads))));
    }
    const auto old = attention->width_of_head(model_.width);
    const auto share = ratio(attention->heads * old, model_.width);
    const auto heads = smaller_heads(attention->heads);
    const auto all = heads * smaller_head_width(model_.block, old, target * share / static_cast<double>(heads));
    return std::min(model_.width, std::max<int64_t>(1, std::llround(static_cast<double>(all) / share)));
  }

  int64_t smaller_window(int64_t window) const {
    return window == 0 ? 0 : times(window, context_factor(), std::max<int64_t>(1, context_ / 8));
  }

  /// A factor of the scores that was c / sqrt(K); one of 1 is none, and stays.
  static std::optional<double> smaller_scale(std::optional<double> scale, int64_t old, int64_t now) {
    return scale && *scale != 1 ? std::optional(*scale * std::sqrt(ratio(old, now))) : scale;
  }

  void make_smaller(SoftmaxAttentionConfig& attention, const BlockConfig& block) const {
    const auto old = attention.width_of_head(model_.width);
    const auto group = attention.heads / attention.key_heads();
    const auto share = ratio(attention.heads * old, model_.width);
    const auto heads = smaller_heads(attention.heads);
    const auto now = smaller_head_width(block, old, share * static_cast<double>(width_) / static_cast<double>(heads));
    if (attention.kv_heads) attention.kv_heads = *attention.kv_heads == 1 ? 1 : heads / group;
    attention.heads = heads;
    if (attention.head_width || heads * now != width_) attention.head_width = now;
    attention.scale = smaller_scale(attention.scale, old, now);
  }

  void make_smaller(LatentAttentionConfig& attention, const BlockConfig&) const {
    const auto old = attention.still_width(model_.width) + attention.rotary_width(model_.width);
    const auto heads = smaller_heads(attention.heads);
    const auto a_head = width_factor() * ratio(attention.heads, heads);
    if (attention.query_rank > 0) attention.query_rank = times(attention.query_rank, width_factor());
    if (attention.key_value_rank) attention.key_value_rank = times(*attention.key_value_rank, width_factor());
    if (attention.nope_width) attention.nope_width = times(*attention.nope_width, a_head, 2);
    if (attention.rope_width) attention.rope_width = 2 * times(*attention.rope_width / 2, a_head);
    if (attention.value_width) attention.value_width = times(*attention.value_width, a_head, 2);
    attention.heads = heads;
    const auto now = attention.still_width(width_) + attention.rotary_width(width_);
    attention.scale = smaller_scale(attention.scale, old, now);
  }

  template <class Kind>
  void make_smaller(Kind& ffn) const {
    if (!ffn.hidden && ffn.multiple_of == 1) return;  // a ratio goes with the width
    ffn.hidden = times(ffn.resolve(model_.width, Kind::default_ratio), width_factor());
    ffn.ratio.reset();
    ffn.multiple_of = 1;
    ffn.rounding = Rounding::kUp;
  }

  void make_smaller(PositionConfig& position) const {
    if (auto* bias = std::get_if<RelativeBiasPositionConfig>(&position))
      bias->max_distance = times(bias->max_distance, context_factor(), bias->buckets / 2 + 1);
    auto* rope = std::get_if<RopePositionConfig>(&position);
    if (rope == nullptr) return;
    std::visit(
        [&](auto& scaling) {
          if constexpr (requires { scaling.original_context; })
            scaling.original_context = times(scaling.original_context, context_factor());
        },
        rope->scaling);
  }

  BlockConfig smaller_block(BlockConfig block) const {
    std::visit(
        [&](auto& attention) {
          attention.window = smaller_window(attention.window);
          make_smaller(attention, block);
        },
        block.attention);
    std::visit([&](auto& ffn) { make_smaller(ffn); }, block.ffn);
    make_smaller(block.position);
    if (block.residual_scale != 1)
      block.residual_scale *= std::sqrt(static_cast<double>(model_.layers) / static_cast<double>(stay_.size()));
    return block;
  }

  const ModelConfig& model_;
  const double factor_;
  const std::vector<BlockConfig> layers_;
  const int64_t unit_;
  int64_t context_;
  std::vector<size_t> stay_;
  int64_t width_;
};

[[noreturn]] void refuse(const Tree& scale, const std::string& problem) {
  throw ConfigError(
      Problem{scale.place, "scale", problem + "; a fraction such as 1/16, a number such as 0.25, or tiny"});
}

double parse_factor(const Tree& scale) {
  if (!scale.is_scalar()) refuse(scale, "must be one word");
  const auto slash = scale.text.find('/');
  const auto top = parse_number(scale.text.substr(0, slash));
  const auto bottom = slash == scale.text.npos ? 1 : parse_number(scale.text.substr(slash + 1));
  if (!top || !bottom) refuse(scale, "is '" + scale.text + "'");
  const double factor = *top / *bottom;
  if (!(factor > 0 && factor < 1)) refuse(scale, "is " + scale.text + ", which must be above 0 and below 1");
  return factor;
}

}  // namespace

ModelConfig smaller(const ModelConfig& model, const SmallerSizes& sizes) {
  return Shrinker(model, sizes).result(sizes.vocabulary);
}

ModelConfig smaller(const ModelConfig& model, double factor) {
  return smaller(model, {.factor = factor,
                         .layers = static_cast<double>(model.layers) * factor,
                         .vocabulary = times(model.vocabulary, factor, 256),
                         .context = times(model.context, factor, 64)});
}

ModelConfig tiny(const ModelConfig& model) {
  constexpr double widest = 96, narrowest = 16, step = 8;
  constexpr int64_t most_parameters = 1'000'000;
  const auto of_width = [&](double width) {
    return smaller(model, {.factor = std::min(1.0, width / static_cast<double>(model.width)),
                           .layers = 2,
                           .vocabulary = 256,
                           .context = 128});
  };
  auto width = widest;
  auto small = of_width(width);
  while (width > narrowest && count_parameters(small).total > most_parameters) small = of_width(width -= step);
  return small;
}

ModelConfig smaller(const ModelConfig& model, const Tree& scale) {
  return scale.is_scalar() && scale.text == "tiny" ? tiny(model) : smaller(model, parse_factor(scale));
}

}  // namespace blockzoo
