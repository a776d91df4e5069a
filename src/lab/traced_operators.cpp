#include "lab/traced_operators.h"

#include <algorithm>

#include "kernels/products.h"

namespace blockzoo {
namespace {

constexpr double kSingle = 4, kHalf = 2, kIndex = 8;

/// What LibTorch's backward of f reads: x itself, or f(x).
bool saves_its_result(Activation f) {
  return f == Activation::kRelu || f == Activation::kReluSquared || f == Activation::kSigmoid;
}

}  // namespace

Traced TracedOperators::linear(const Traced& x, const std::string& name, double in, double out) {
  if (settings_.half() && settings_.fast() && bfloat16_products() != Bfloat16Products::kLibTorch)
    return rounded_linear(x, name, in, out);
  const auto each = settings_.half() ? kHalf : x.each;
  const auto input = settings_.half() ? tape_.cast(x, kHalf) : x;
  std::vector<Memory> saved{input.memory};
  if (settings_.half()) saved.push_back(rounded_weight(name, in * out));
  const bool fast = settings_.fast() && !settings_.half();
  const bool packs_weight = fast && products().outputs == Multiplier::kRows,
             packs_input = fast && products().weight_gradients == Multiplier::kRows;
  return tape_.apply({input}, {.values = x.values / in * out,
                               .each = each,
                               .saved = std::move(saved),
                               .forward_scratch = packs_weight ? kSingle * in * out : 0,
                               .backward_scratch = packs_input ? kSingle * x.values : 0,
                               .parameter = name,
                               .parameter_values = in * out,
                               .gradient_each = each});
}

const Memory& TracedOperators::rounded_weight(const std::string& name, double values) {
  auto& weight = casts_[name];
  if (!weight) weight = tape_.allocate(kHalf * values);
  return weight;
}

Traced TracedOperators::rounded_linear(const Traced& x, const std::string& name, double in, double out) {
  auto input = x;
  if (x.each != kHalf) {
    const auto copy = x.memory == rounded_from_.lock() ? rounded_.memory.lock() : Memory();
    input =
        copy ? Traced{.values = x.values, .each = kHalf, .memory = copy, .node = rounded_.node} : tape_.cast(x, kHalf);
    rounded_from_ = x.memory;
    rounded_ = {input.memory, input.node};
  }
  const auto results = x.values / in * out;
  OperatorMemory memory{.values = results,
                        .each = kHalf,
                        .saved = {input.memory, rounded_weight(name, in * out)},
                        .forward_scratch = bfloat16_products() == Bfloat16Products::kRows ? kHalf * in * out : 0,
                        .backward_scratch = kHalf * x.values,  // packed
                        .parameter = name,
                        .parameter_values = in * out};
  if (bfloat16_products() == Bfloat16Products::kWidened) {
    const auto packed = products().weight_gradients == Multiplier::kRows ? x.values : 0;
    memory.forward_scratch = std::max(kSingle * (x.values + in * out) + (kSingle - kHalf) * results, kSingle * results);
    memory.backward_scratch = kSingle * (results + x.values + packed);
  }
  return tape_.apply({input}, memory);
}

Traced TracedOperators::lookup(const std::string& name, double rows, double width) {
  return tape_.apply({}, {.values = settings_.tokens() * width, .parameter = name, .parameter_values = rows * width});
}

Traced TracedOperators::by_formula(const RmsNormConfig& config, const Traced& wide, double width, bool) {
  const auto inverse = tape_.apply({wide}, {.values = wide.values / width,
                                            .saved = {wide.memory},
                                            .forward_scratch = wide.bytes(),
                                            .backward_scratch = 2 * wide.bytes()});
  const auto y =
      tape_.apply({wide, inverse},
                  {.values = wide.values, .saved = {wide.memory, inverse.memory}, .backward_scratch = wide.bytes()});
  return config.gain ? multiplied(y) : y;
}

Traced TracedOperators::by_formula(const LayerNormConfig& config, const Traced& wide, double width, bool own_gains) {
  auto y =
      tape_.apply({wide}, {.values = wide.values, .saved = {wide.memory}, .extra = 2 * kSingle * wide.values / width});
  if (own_gains && config.gain) y = multiplied(y);
  return own_gains && config.bias ? mapped(y) : y;
}

Traced TracedOperators::by_formula(const ScaleNormConfig&, const Traced& wide, double width, bool) {
  const auto rows = wide.values / width;
  const auto factor = tape_.apply({wide}, {.values = rows,
                                           .saved = {wide.memory},
                                           .extra = 3 * kSingle * rows,
                                           .forward_scratch = wide.bytes(),
                                           .backward_scratch = wide.bytes()});
  return tape_.apply({wide, factor},
                     {.values = wide.values, .saved = {wide.memory, factor.memory}, .backward_scratch = wide.bytes()});
}

Traced TracedOperators::by_formula(const DynamicTanhConfig& config, const Traced& wide, double, bool) {
  const auto y = multiplied(tape_.apply({multiplied(wide)}, {.values = wide.values, .saves_result = true}));
  return config.bias ? mapped(y) : y;
}

Traced TracedOperators::by_formula(const NoNormConfig&, const Traced& wide, double, bool) { return wide; }

Traced TracedOperators::norm(const NormConfig& config, const Traced& x, double width, bool own_gains) {
  if (std::holds_alternative<NoNormConfig>(config)) return x;
  const auto rows = x.values / width;
  if (settings_.fast())  // with at most a mean and a factor of each row
    return tape_.apply({x}, {.values = x.values, .each = x.each, .saved = {x.memory}, .extra = 2 * kSingle * rows});
  const auto wide = tape_.cast(x, kSingle);
  const auto y = std::visit([&](const auto& kind) { return by_formula(kind, wide, width, own_gains); }, config);
  return tape_.cast(y, x.each);
}

Traced TracedOperators::rotated(const Traced& x, double channels_share) {
  if (settings_.fast()) return tape_.apply({x}, {.values = x.values, .each = x.each});
  const auto turning = kSingle * channels_share * x.values;
  const auto turned = tape_.apply(
      {x}, {.values = x.values, .each = x.each, .forward_scratch = 1.5 * turning, .backward_scratch = 3 * turning});
  return turned;
}

Traced TracedOperators::activated(Activation f, const Traced& x) {
  if (f == Activation::kIdentity) return x;
  OperatorMemory memory{.values = x.values, .each = x.each};
  if (!settings_.fast() && f == Activation::kReluSquared) {
    const auto relu = tape_.apply({x}, {.values = x.values, .each = x.each, .saves_result = true});
    memory.saved = {relu.memory};
    memory.backward_scratch = x.bytes();
    return tape_.apply({relu}, memory);
  }
  if (settings_.fast() || !saves_its_result(f))
    memory.saved = {x.memory};
  else
    memory.saves_result = true;
  return tape_.apply({x}, memory);
}

Traced TracedOperators::gated(Activation f, const Traced& gate, const Traced& up) {
  const auto on = settings_.fast() ? gate : activated(f, gate);
  return tape_.apply({on, up}, {.values = gate.values, .each = gate.each, .saved = {on.memory, up.memory}});
}

Traced TracedOperators::dropped(const Traced& x, double rate) {
  if (rate == 0) return x;
  return tape_.apply({x}, {.values = x.values, .each = x.each, .extra = x.bytes()});
}

Traced TracedOperators::scaled(const Traced& x, double factor) { return factor == 1 ? x : mapped(x); }

Traced TracedOperators::capped(const Traced& x) {
  return settings_.fast() ? tape_.apply({x}, {.values = x.values, .each = x.each, .saves_result = true})
                          : capped_by_formula(x);
}

Traced TracedOperators::capped_by_formula(const Traced& x) {
  const auto small = tape_.apply({mapped(x)}, {.values = x.values, .each = x.each, .saves_result = true});
  return mapped(small);
}

Traced TracedOperators::multiplied(const Traced& x) {
  return tape_.apply({x}, {.values = x.values, .each = x.each, .saved = {x.memory}, .backward_scratch = x.bytes()});
}

Traced TracedOperators::mapped(const Traced& x) { return tape_.apply({x}, {.values = x.values, .each = x.each}); }

Traced TracedOperators::losses(const Traced& logits) {
  const auto tokens = settings_.tokens();
  if (settings_.fast())
    return tape_.apply({logits}, {.values = tokens, .saved = {logits.memory}, .extra = (kSingle + kIndex) * tokens});
  const auto wide = tape_.cast(logits, kSingle);
  const auto log_z = tape_.apply({wide}, {.values = tokens,
                                          .saved = {wide.memory},
                                          .saves_result = true,
                                          .forward_scratch = wide.bytes(),
                                          .backward_scratch = 2 * wide.bytes()});
  const auto target = tape_.apply({wide}, {.values = tokens, .extra = kIndex * tokens});
  return tape_.add(log_z, target);
}

}  // namespace blockzoo
