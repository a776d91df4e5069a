#include "blockzoo/kernels/rotary.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/fast.h"
#include "kernels/rows/rotary.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The rows of a table that are x's.
Tensor rows_of(const Tensor& table, const Tensor& x, int64_t first) {
  return table.dim() == 4 ? table : table.slice(0, first, first + x.size(1));
}

Tensor rotate_by_formula(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopePairing pairing) {
  const auto half = cosine.size(-1), channels = 2 * half;
  const auto turning = x.slice(-1, 0, channels);
  const auto rest = x.slice(-1, channels);
  const bool apart = pairing == RopePairing::kHalf;
  const auto pairs = apart ? turning.unflatten(-1, {2, half}) : turning.unflatten(-1, {half, 2});
  const int64_t pair_dim = apart ? -2 : -1;
  const auto a = pairs.select(pair_dim, 0);  // [B, T, heads, R/2]
  const auto b = pairs.select(pair_dim, 1);
  const auto turned =
      at::stack({a * cosine - b * sine, a * sine + b * cosine}, pair_dim).flatten(-2).to(x.scalar_type());
  return rest.size(-1) == 0 ? turned : at::cat({turned, rest}, -1);
}

/// Turns by `sense` times the angle. Tables of rows' own places make one sequence of all rows.
Tensor turned(const Tensor& x, const Tensor& cosine, const Tensor& sine, int64_t first_row, rows::Pairs pairs,
              float sense) {
  const bool own = cosine.dim() == 4;
  const auto before = own ? 0 : first_row * cosine.size(-1);
  const rows::RotaryShape shape{.sequences = static_cast<size_t>(own ? 1 : x.size(0)),
                                .length = static_cast<size_t>(own ? x.size(0) * x.size(1) : x.size(1)),
                                .heads = static_cast<size_t>(x.size(2)),
                                .width = static_cast<size_t>(x.size(3)),
                                .channels = static_cast<size_t>(2 * cosine.size(-1)),
                                .pairs = pairs};
  auto y = empty_as(x);
  by_element(x, [&]<class T>(T) {
    const auto grain = std::max<int64_t>(1, (1 << 14) * static_cast<int64_t>(shape.length) / x.numel());
    at::parallel_for(0, static_cast<int64_t>(shape.length), grain, [&](int64_t first, int64_t last) {
      rows::rotate(shape, static_cast<size_t>(first), static_cast<size_t>(last), sense, read<T>(x),
                   read<float>(cosine) + before, read<float>(sine) + before, write<T>(y));
    });
  });
  return y;
}

struct FusedRotation : torch::autograd::Function<FusedRotation> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& cosine, const Tensor& sine,
                        int64_t first, bool half) {
    RECORD_USER_SCOPE("blockzoo::rotary");
    const auto pairs = half ? rows::Pairs::kHalf : rows::Pairs::kInterleaved;
    if (context != nullptr) {
      context->save_for_backward({cosine, sine});
      context->saved_data["first"] = first;
      context->saved_data["half"] = half;
    }
    return turned(x.contiguous(), cosine, sine, first, pairs, 1);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto pairs = context->saved_data["half"].toBool() ? rows::Pairs::kHalf : rows::Pairs::kInterleaved;
    const auto first = context->saved_data["first"].toInt();
    variable_list result(5);
    result[0] = turned(gradients[0].contiguous(), saved[0], saved[1], first, pairs, -1);
    return result;
  }
};

}  // namespace

Tensor rotate_pairs(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopePairing pairing, int64_t first) {
  const bool tables = cosine.is_cpu() && cosine.scalar_type() == at::kFloat && sine.scalar_type() == at::kFloat;
  if (!fast_on_cpu(x) || !tables || x.dim() != 4 || x.numel() == 0)
    return rotate_by_formula(x, rows_of(cosine, x, first), rows_of(sine, x, first), pairing);
  return applied<FusedRotation>(x, cosine.contiguous(), sine.contiguous(), first, pairing == RopePairing::kHalf);
}

}  // namespace blockzoo
