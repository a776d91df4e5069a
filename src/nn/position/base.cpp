#include "blockzoo/nn/position/base.h"

#include <ATen/ATen.h>

#include "blockzoo/kernels/attention.h"

namespace blockzoo {

Tensor PositionImpl::embed(const Tensor& x, const Places&) const { return x; }
Tensor PositionImpl::rotate(const Tensor& x, const Places&) const { return x; }
Tensor PositionImpl::distance_bias(int64_t) const { return {}; }
Tensor PositionImpl::content_queries(const Tensor& q) const { return q; }
Tensor PositionImpl::relative_scores(const Tensor&, int64_t, double) const { return {}; }

void PositionImpl::add_scores(const Tensor& q, int64_t keys, AttendOptions& options) const {
  options.distance_bias = distance_bias(keys);
  const auto relative = relative_scores(q, keys, options.scale);
  options.bias = relative.defined() ? relative.to(at::promote_types(relative.scalar_type(), at::kFloat)) : relative;
}

void PositionImpl::check_rows(const Places& places, int64_t count, const Tensor& table, std::string_view kind) {
  const auto last = places.first + count;
  TORCH_CHECK(last <= table.size(0), "[", kind, "] positions up to ", last, " are asked for, but there are ",
              table.size(0));
}

Tensor PositionImpl::rows_at(const Places& places, int64_t count, const Tensor& table, std::string_view kind) {
  check_rows(places, count, table, kind);
  const auto last = places.first + count;
  if (!places.absent.defined()) return table.slice(0, places.first, last);
  const auto columns = at::arange(places.first, last, places.absent.options());
  return table.index({(columns - places.absent.unsqueeze(1)).clamp_min(0)});
}

void PositionImpl::to(at::Device device, at::ScalarType dtype, bool non_blocking) {
  to(device, non_blocking);
  to(dtype, non_blocking);
}

void PositionImpl::to(at::ScalarType dtype, bool non_blocking) {
  for (const auto& child : children()) child->to(dtype, non_blocking);
}

}  // namespace blockzoo
