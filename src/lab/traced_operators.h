#pragma once

#include <string>

#include "blockzoo/kernels/choice.h"
#include "blockzoo/nn/block.h"
#include "blockzoo/train/precision.h"
#include "lab/memory_tape.h"

namespace blockzoo {

/// Sizes of an update, and what computes it.
struct TraceSettings {
  double batch = 1;
  double length = 1;  // tokens of a sequence
  Precision precision = Precision::kFloat32;
  Kernels kernels = Kernels::kFast;

  double tokens() const { return batch * length; }
  bool half() const { return precision == Precision::kBfloat16; }
  bool fast() const { return kernels == Kernels::kFast; }
};

/// The operators of kernels/ and nn/ on a tape: what each saves and what it needs meanwhile, as the sources of this
/// program and of LibTorch (derivatives.yaml, its CPU kernels, its lists for autocast) have it.
class TracedOperators {
 public:
  TracedOperators(MemoryTape& tape, const TraceSettings& settings) : tape_(tape), settings_(settings) {}

  /// y = x W^T; `name` says whose gradient W's is. x has `in` values for each row.
  Traced linear(const Traced& x, const std::string& name, double in, double out);
  /// Rows of a table, one a token.
  Traced lookup(const std::string& name, double rows, double width);
  /// Over `width` channels; with gains of every head's own where x has heads.
  Traced norm(const NormConfig& config, const Traced& x, double width, bool own_gains = false);
  Traced rotated(const Traced& x, double channels_share);
  Traced activated(Activation f, const Traced& x);
  Traced gated(Activation f, const Traced& gate, const Traced& up);
  Traced dropped(const Traced& x, double rate);
  Traced scaled(const Traced& x, double factor);
  /// c tanh(x / c).
  Traced capped(const Traced& x);
  Traced capped_by_formula(const Traced& x);
  /// x times weights that learn, x being kept.
  Traced multiplied(const Traced& x);
  /// f(x) element by element, or x in another order, where the backward pass reads neither.
  Traced mapped(const Traced& x);
  Traced losses(const Traced& logits);
  /// Copies of the weights that autocast keeps until the forward pass is done.
  void forget_casts() { casts_.clear(); }

  MemoryTape& tape() { return tape_; }
  const TraceSettings& settings() const { return settings_; }

 private:
  /// Of fast kernels in bfloat16: maps of one input share its copy.
  Traced rounded_linear(const Traced& x, const std::string& name, double in, double out);
  const Memory& rounded_weight(const std::string& name, double values);
  /// Norms in LibTorch's operators, of float32 numbers.
  Traced by_formula(const RmsNormConfig& config, const Traced& wide, double width, bool own_gains);
  Traced by_formula(const LayerNormConfig& config, const Traced& wide, double width, bool own_gains);
  Traced by_formula(const ScaleNormConfig& config, const Traced& wide, double width, bool own_gains);
  Traced by_formula(const DynamicTanhConfig& config, const Traced& wide, double width, bool own_gains);
  Traced by_formula(const NoNormConfig& config, const Traced& wide, double width, bool own_gains);

  MemoryTape& tape_;
  const TraceSettings settings_;
  std::map<std::string, Memory> casts_;
  struct Rounded {
    std::weak_ptr<const void> memory;
    int node = -1;
  };
  std::weak_ptr<const void> rounded_from_;  // the last input that was rounded
  Rounded rounded_;                         // its copy
};

}  // namespace blockzoo
