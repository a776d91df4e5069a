#pragma once

#include "blockzoo/nn/ffn/activation.h"
#include "blockzoo/nn/types.h"

namespace blockzoo {

/// Hears, on its thread while it lives, what each layer reads, makes and has in the middle of its feed-forward
/// sublayer; the one made last hears, and the one before it again afterwards. Nothing is computed differently. Layers
/// are counted from 0, as the AttentionLayerScope around them says.
class LayerObserver {
 public:
  LayerObserver();
  virtual ~LayerObserver();
  LayerObserver(const LayerObserver&) = delete;
  LayerObserver& operator=(const LayerObserver&) = delete;

  /// The stream before and after layer `layer`, each [B, T, D].
  virtual void passed(int64_t layer, const Tensor& x, const Tensor& y) = 0;

  /// What the last matrix of the feed-forward sublayer reads [B, T, F]: f(W_up x), or f(W_gate x) * W_up x.
  virtual void hidden_units(int64_t layer, Activation f, const Tensor& h) = 0;

  /// Who hears on this thread; null when nobody does.
  static LayerObserver* current();

 private:
  LayerObserver* const before_;
};

/// Tells the observer, if there is one, and returns h.
const Tensor& heard_hidden(Activation f, const Tensor& h);

}  // namespace blockzoo
