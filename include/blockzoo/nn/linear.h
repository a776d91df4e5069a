#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <vector>

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// What a matrix does, which decides its start values.
enum class LinearRole {
  kInner,           // reads the stream or an inner vector
  kResidualOutput,  // writes to the residual stream; may be scaled down with depth
  kHead,            // turns the stream into logits
};

struct LinearConfig {
  int64_t in = 0;
  int64_t out = 0;
  bool bias = false;
  LinearRole role = LinearRole::kInner;
};

/// y = x W^T + b.
/// Shapes:     x [..., in] -> y [..., out].
/// Parameters: weight [out, in], drawn by the model's init; bias [out], starts at zero, absent when off.
class LinearImpl final : public torch::nn::Module {
 public:
  explicit LinearImpl(const LinearConfig& config);
  Tensor forward(const Tensor& x);

  const LinearConfig config;
  Tensor weight;
  Tensor bias;
};
TORCH_MODULE(Linear);

/// What each map makes of one x; undefined where there is no map. For maps whose weights a step of generation may read
/// in one go.
std::vector<Tensor> linear_maps(const Tensor& x, const std::vector<Linear>& maps);

/// y[t] = table[id[t]].
/// Shapes:     ids [...] (int64) -> y [..., width].
/// Parameters: weight [rows, width], drawn by the model's init.
/// Errors:     an id outside 0..rows-1 is refused, on the CPU with the id.
class EmbeddingImpl final : public torch::nn::Module {
 public:
  EmbeddingImpl(int64_t rows, int64_t width);
  Tensor forward(const Tensor& ids);

  Tensor weight;
};
TORCH_MODULE(Embedding);

}  // namespace blockzoo
