#pragma once

#include "blockzoo/nn/ffn/activation.h"
#include "blockzoo/nn/linear.h"
#include "blockzoo/nn/norm.h"

namespace blockzoo {

/// Per-layer embeddings: every layer l reads a vector of its own for each token, made from the token and from the
/// stream x0 that enters the first layer,
///   p = (norm(W x0 / sqrt(D)) + sqrt(P) T[token]) / sqrt(2),  cut into L vectors p_l of P channels,
/// where norm is that of each vector. The layer then adds to its output y (LayerInput)
///   norm(W_out (f(W_gate y) * p_l)).
/// Source: Gemma 3n and Gemma 4 (Google 2025 and 2026, code of the releases). The norms are the block's kind, f is the
/// feed-forward sublayer's.
struct LayerEmbeddingSizes {
  int64_t vocabulary = 0;
  int64_t model = 0;   // D
  int64_t layers = 0;  // L
  int64_t width = 0;   // P
};

/// Shapes:     tokens [B, T] (int64), x [B, T, D] -> p [B, T, L, P].
/// Parameters: table.weight [V, L P], drawn as tables are; projection.weight [L P, D]; norm over [P].
class LayerEmbeddingImpl final : public torch::nn::Module {
 public:
  LayerEmbeddingImpl(const LayerEmbeddingSizes& sizes, const NormConfig& norm);
  Tensor forward(const Tensor& tokens, const Tensor& x);

 private:
  const LayerEmbeddingSizes sizes_;
  Embedding table_;
  Linear projection_;
  Norm norm_;
};
TORCH_MODULE(LayerEmbedding);

/// Shapes:     y [B, T, D], p [B, T, P] -> what is added to y [B, T, D].
/// Parameters: gate.weight [P, D]; output.weight [D, P], which writes to the stream; norm over [D].
class LayerInputImpl final : public torch::nn::Module {
 public:
  LayerInputImpl(const Dims& dims, const NormConfig& norm, Activation activation);
  Tensor forward(const Tensor& y, const Tensor& p);

 private:
  const Activation activation_;
  Linear gate_, output_;
  Norm norm_;
};
TORCH_MODULE(LayerInput);

}  // namespace blockzoo
