#include "kernels/one_query.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "kernels/fast.h"
#include "kernels/rows/attend_one.h"

namespace blockzoo {
namespace {

/// Multiplications below which a second thread costs more than it brings.
constexpr int64_t kWorthAThread = 1 << 14;

template <class T>
rows::OneQueryInputs<T> query_inputs(const Tensor& q, const Tensor& k, const Tensor& v) {
  return {.q = read<T>(q),
          .k = read<T>(k),
          .v = read<T>(v),
          .k_strides = {k.stride(0), k.stride(1), k.stride(2)},
          .v_strides = {v.stride(0), v.stride(1), v.stride(2)}};
}

}  // namespace

bool one_query_fits(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options) {
  const bool one_type = k.scalar_type() == q.scalar_type() && v.scalar_type() == q.scalar_type();
  const auto& distance = options.distance_bias;
  if (distance.defined() && (options.bias.defined() || !fast_on_cpu(distance))) return false;
  const bool bias = !options.bias.defined() || (options.bias.is_cpu() && options.bias.scalar_type() == at::kFloat &&
                                                options.bias.size(-1) == k.size(1) && options.bias.stride(-1) == 1);
  return fast_on_cpu(q) && one_type && q.size(1) == 1 && !at::GradMode::is_enabled() && options.dropout == 0 && bias &&
         q.numel() > 0 && v.numel() > 0 && k.stride(3) == 1 && v.stride(3) == 1;
}

Tensor attend_one_query(const Tensor& query, const Tensor& k, const Tensor& v, const AttendOptions& options) {
  RECORD_USER_SCOPE("blockzoo::attention");
  const auto q = query.contiguous(), absent = options.absent.defined() ? options.absent.contiguous() : Tensor();
  const auto size = [](const Tensor& x, int64_t dim) { return static_cast<size_t>(x.size(dim)); };
  const auto keys = k.size(1);
  const bool all_seen = options.window == 0 || options.window >= keys;
  rows::OneQueryShape shape{.batch = size(q, 0),
                            .keys = size(k, 1),
                            .heads = size(q, 2),
                            .key_heads = size(k, 2),
                            .width = size(q, 3),
                            .value_width = size(v, 3),
                            .first_key = static_cast<size_t>(all_seen ? 0 : keys - options.window),
                            .absent = read<int64_t>(absent),
                            .scale = static_cast<float>(options.scale),
                            .softcap = static_cast<float>(options.softcap)};
  if (options.bias.defined()) {
    shape.bias = read<float>(options.bias);
    shape.bias_batch = options.bias.dim() == 4 ? options.bias.stride(0) : 0;
    shape.bias_head = options.bias.stride(-3);
  }
  Tensor by_key;  // [H, S], held until the end
  if (options.distance_bias.defined()) {
    by_key = options.distance_bias.to(at::kFloat).flip(1).contiguous();
    shape.bias = read<float>(by_key);
    shape.bias_head = by_key.stride(0);
  }
  auto y = at::empty({q.size(0), 1, q.size(2), v.size(3)}, v.options());
  const auto work = keys * (q.size(3) + v.size(3));  // of one head
  by_element(q, [&]<class T>(T) {
    const auto inputs = query_inputs<T>(q, k, v);
    at::parallel_for(
        0, q.size(0) * q.size(2), std::max<int64_t>(1, kWorthAThread / work), [&](int64_t first, int64_t last) {
          rows::attend_one(shape, inputs, static_cast<size_t>(first), static_cast<size_t>(last), write<T>(y));
        });
  });
  return y;
}

}  // namespace blockzoo
