#include "blockzoo/nn/attention/qk_norm.h"

#include <ATen/ATen.h>

namespace blockzoo {
namespace {

struct NormBuilder {
  int64_t heads;
  int64_t width;
  Norm operator()(const NoQkNormConfig&) const { return make_norm(NoNormConfig{}, {width}); }
  Norm operator()(const HeadQkNormConfig& config) const { return make_norm(config.norm, {width}); }
  Norm operator()(const HeadOwnQkNormConfig& config) const { return make_norm(config.norm, {heads, width}); }
  Norm operator()(const FullQkNormConfig& config) const { return make_norm(config.norm, {heads * width}); }
};

}  // namespace

Norm make_qk_norm(const QkNormConfig& config, int64_t heads, int64_t width) {
  return std::visit(NormBuilder{heads, width}, config);
}

Tensor apply_qk_norm(const QkNormConfig& config, Norm& norm, const Tensor& x) {
  const bool full = std::holds_alternative<FullQkNormConfig>(config);
  return full ? norm(x.flatten(-2)).view(x.sizes()) : norm(x);
}

}  // namespace blockzoo
