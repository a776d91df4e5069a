#include "kernels/attention_tiles.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/fast.h"
#include "kernels/parallel.h"
#include "kernels/rows/attention.h"
#include "kernels/rows/attention_pairs.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr auto kTile = static_cast<int64_t>(rows::kTile), kStep = static_cast<int64_t>(rows::kStep);

int64_t filled(int64_t count, int64_t step) { return (count + step - 1) / step * step - count; }

/// Without gaps, the last dimension filled up with zeros to a multiple of kStep.
Tensor prepared(const Tensor& x) {
  const auto missing = filled(x.size(-1), kStep);
  return (missing == 0 ? x : at::constant_pad_nd(x, {0, missing})).contiguous();
}

/// What the tiles read, kept alive.
struct TileTensors {
  Tensor q, k, v;
  int64_t zeros, value_zeros;  // that prepared() added

  TileTensors(const Tensor& query, const Tensor& key, const Tensor& value)
      : q(prepared(query)),
        k(prepared(key)),
        v(prepared(value)),
        zeros(filled(query.size(-1), kStep)),
        value_zeros(filled(value.size(-1), kStep)) {}

  template <class T>
  rows::AttentionInputs<T> pointers() const {
    return {.q = read<T>(q), .k = read<T>(k), .v = read<T>(v)};
  }
};

/// What a backward must know again.
struct TileSettings {
  int64_t window;
  double scale, softcap, dropout;
  int64_t seed;
};

/// Places behind a distance table's end that tiles at the diagonal may read.
constexpr int64_t kBeyondTable = 2 * kTile;

/// Biases by distance [H, S] the other way round, so that the keys of a query lie side by side, with zeros behind.
Tensor by_key(const Tensor& distance_bias) {
  return at::constant_pad_nd(distance_bias.to(at::kFloat).flip(1), {0, kBeyondTable}).contiguous();
}

/// Where the row of query 0 begins in by_key(): at the bias of key 0.
int64_t first_row(const rows::AttentionShape& shape) { return static_cast<int64_t>(shape.queries) - 1; }

rows::AttentionShape attention_shape(const TileTensors& tensors, const Tensor& bias, const Tensor& table,
                                     const TileSettings& settings) {
  const auto size = [](const Tensor& x, int64_t dim) { return static_cast<size_t>(x.size(dim)); };
  rows::AttentionShape shape{.batch = size(tensors.q, 0),
                             .queries = size(tensors.q, 1),
                             .keys = size(tensors.k, 1),
                             .heads = size(tensors.q, 2),
                             .key_heads = size(tensors.k, 2),
                             .width = size(tensors.q, 3),
                             .value_width = size(tensors.v, 3),
                             .zeros = static_cast<size_t>(tensors.zeros),
                             .value_zeros = static_cast<size_t>(tensors.value_zeros),
                             .window = static_cast<size_t>(settings.window),
                             .scale = static_cast<float>(settings.scale),
                             .softcap = static_cast<float>(settings.softcap)};
  shape.dropout = static_cast<float>(settings.dropout);
  shape.seed = static_cast<uint64_t>(settings.seed);
  if (table.defined()) {
    shape.bias = read<float>(table) + first_row(shape);
    shape.bias_head = table.stride(0);
    shape.bias_query = -1;
  }
  if (!bias.defined()) return shape;
  shape.bias = read<float>(bias);
  shape.bias_batch = bias.dim() == 4 ? bias.stride(0) : 0;
  shape.bias_head = bias.stride(-3);
  shape.bias_query = bias.stride(-2);
  return shape;
}

/// Without the zeros that prepared() added, in x's type.
Tensor restored(const Tensor& gradient, const Tensor& x) {
  const auto narrow = gradient.size(-1) == x.size(-1) ? gradient : gradient.slice(-1, 0, x.size(-1)).contiguous();
  return narrow.to(x.scalar_type());
}

/// Zeros in the place of bias [B, H, T, S]; behind each row there is room for a vector.
Tensor bias_gradient(const Tensor& bias) {
  const auto keys = bias.size(3);
  return at::zeros({bias.size(0), bias.size(1), bias.size(2), keys + filled(keys, kStep)}, at::kFloat)
      .slice(-1, 0, keys);
}

/// Sums over the query heads that share a key head: [B, S, H, K] -> [B, S, G, K].
Tensor by_key_head(const Tensor& x, int64_t groups) {
  return x.size(2) == groups ? x : x.unflatten(2, {groups, -1}).sum(3);
}

/// What multiplies tiles of x's type in pairs, where there is such; else null.
const rows::AttentionInPairs* pairs_for(const Tensor& x) {
  return x.scalar_type() == at::kBFloat16 ? rows::attention_in_pairs() : nullptr;
}

/// y and log_z.
void attend_to(const rows::AttentionShape& shape, const TileTensors& tensors, const Tensor& y, const Tensor& log_z) {
  const auto* pairs = pairs_for(y);
  const auto size = [](size_t count) { return static_cast<int64_t>(count); };
  const auto across = at::empty({size(shape.batch), size(shape.key_heads), size(shape.key_tiles()),
                                 size(pairs != nullptr ? shape.width / 2 : shape.width), kTile},
                                at::kFloat);
  const auto by_key_tile = shape.batch * shape.key_heads * shape.key_tiles();
  const auto by_query_tile = shape.batch * shape.heads * shape.query_tiles();
  if (pairs != nullptr) {
    const auto inputs = tensors.pointers<rows::Bf16>();
    in_parallel(by_key_tile, [&](size_t first, size_t last) {
      pairs->take_keys_across(shape, inputs.k, first, last, write<rows::Bf16Pair>(across));
    });
    in_parallel(by_query_tile, [&](size_t first, size_t last) {
      pairs->attend(shape, inputs, read<rows::Bf16Pair>(across), first, last, write<rows::Bf16>(y),
                    write<float>(log_z));
    });
    return;
  }
  by_element(y, [&]<class T>(T) {
    const auto inputs = tensors.pointers<T>();
    in_parallel(by_key_tile, [&](size_t first, size_t last) {
      rows::take_keys_across(shape, inputs.k, first, last, write<float>(across));
    });
    in_parallel(by_query_tile, [&](size_t first, size_t last) {
      rows::attend(shape, inputs, read<float>(across), first, last, write<T>(y), write<float>(log_z));
    });
  });
}

/// dq, and dk and dv of every query head, in float32 or q's type; dbias as the rows have it, or null.
struct TileGradients {
  Tensor dq, dk, dv;
  float* dbias = nullptr;
  int64_t dbias_batch = 0, dbias_head = 0, dbias_query = 0;

  template <class T, class D>
  rows::AttentionGradients<T, D> pointers(const Tensor& y, const Tensor& dy, const Tensor& log_z) const {
    return {.y = read<T>(y),
            .dy = read<T>(dy),
            .log_z = read<float>(log_z),
            .dq = write<T>(dq),
            .dk = write<D>(dk),
            .dv = write<D>(dv),
            .dbias = dbias,
            .dbias_batch = dbias_batch,
            .dbias_head = dbias_head,
            .dbias_query = dbias_query};
  }
};

void attend_backward_to(const rows::AttentionShape& shape, const TileTensors& tensors, const Tensor& y,
                        const Tensor& dy, const Tensor& log_z, const TileGradients& to) {
  const auto by_head = [&](const auto& kernel) { in_parallel(shape.batch * shape.heads, kernel); };
  const auto* pairs = pairs_for(y);
  if (pairs == nullptr) {
    return by_element(y, [&]<class T>(T) {
      const auto gradients = to.pointers<T, float>(y, dy, log_z);
      by_head([&](size_t first, size_t last) {
        rows::attend_backward(shape, tensors.pointers<T>(), gradients, first, last);
      });
    });
  }
  const auto inputs = tensors.pointers<rows::Bf16>();
  if (to.dk.scalar_type() == at::kFloat) {
    const auto gradients = to.pointers<rows::Bf16, float>(y, dy, log_z);
    by_head([&](size_t first, size_t last) { pairs->attend_backward(shape, inputs, gradients, first, last); });
  } else {
    const auto gradients = to.pointers<rows::Bf16, rows::Bf16>(y, dy, log_z);
    by_head([&](size_t first, size_t last) { pairs->attend_backward_rounded(shape, inputs, gradients, first, last); });
  }
}

struct TiledAttention : torch::autograd::Function<TiledAttention> {
  static Tensor forward(AutogradContext* context, const Tensor& q, const Tensor& k, const Tensor& v,
                        const std::optional<Tensor>& given_bias, const std::optional<Tensor>& distance_bias,
                        int64_t window, double scale, double softcap, double dropout, int64_t seed) {
    RECORD_USER_SCOPE("blockzoo::attention");
    const TileTensors tensors(q, k, v);
    const auto bias = given_bias.value_or(Tensor());
    const auto table = distance_bias ? by_key(*distance_bias) : Tensor();
    const auto shape = attention_shape(tensors, bias, table, {window, scale, softcap, dropout, seed});
    auto y = at::empty({q.size(0), q.size(1), q.size(2), tensors.v.size(3)}, q.options());
    auto log_z = at::empty({q.size(0), q.size(2), q.size(1)}, at::kFloat);
    attend_to(shape, tensors, y, log_z);
    const auto result = restored(y, v);
    if (context == nullptr) return result;
    context->save_for_backward({q, k, v, bias, result, log_z, table});
    context->saved_data["bias_learns"] = given_bias && given_bias->requires_grad();
    context->saved_data["table_learns"] = distance_bias && distance_bias->requires_grad();
    if (distance_bias) context->saved_data["table_type"] = distance_bias->scalar_type();
    context->saved_data["window"] = window;
    context->saved_data["scale"] = scale;
    context->saved_data["softcap"] = softcap;
    context->saved_data["dropout"] = dropout;
    context->saved_data["seed"] = seed;
    return result;
  }

  static variable_list backward(AutogradContext* context, const variable_list& outer) {
    const auto saved = context->get_saved_variables();
    const auto &q = saved[0], &k = saved[1], &v = saved[2];
    const TileTensors tensors(q, k, v);
    auto& data = context->saved_data;
    const auto& table = saved[6];
    const auto shape = attention_shape(tensors, saved[3], table,
                                       {.window = data["window"].toInt(),
                                        .scale = data["scale"].toDouble(),
                                        .softcap = data["softcap"].toDouble(),
                                        .dropout = data["dropout"].toDouble(),
                                        .seed = data["seed"].toInt()});
    const auto y = prepared(saved[4]), dy = prepared(outer[0].to(q.scalar_type()));
    const bool table_learns = data["table_learns"].toBool();
    const auto dtable =
        table_learns ? at::zeros({q.size(0), table.size(0), table.size(1)}, at::kFloat) : Tensor();  // of each sequence
    const bool summed = q.size(2) != k.size(2);  // over the heads that share a key head
    const auto type = pairs_for(q) != nullptr && !summed ? q.scalar_type() : at::kFloat;
    const auto dbias = data["bias_learns"].toBool() ? bias_gradient(saved[3]) : Tensor();
    TileGradients to{.dq = empty_as(tensors.q),
                     .dk = at::empty({k.size(0), k.size(1), q.size(2), tensors.k.size(3)}, type),
                     .dv = at::empty({v.size(0), v.size(1), q.size(2), tensors.v.size(3)}, type)};
    if (table_learns) {
      to.dbias = write<float>(dtable) + first_row(shape);
      to.dbias_batch = dtable.stride(0);
      to.dbias_head = dtable.stride(1);
      to.dbias_query = -1;
    } else if (dbias.defined()) {
      to.dbias = write<float>(dbias);
      to.dbias_batch = dbias.stride(0);
      to.dbias_head = dbias.stride(1);
      to.dbias_query = dbias.stride(2);
    }
    attend_backward_to(shape, tensors, y, dy, saved[5], to);
    variable_list result(10);
    result[0] = restored(to.dq, q);
    result[1] = restored(by_key_head(to.dk, k.size(2)), k);
    result[2] = restored(by_key_head(to.dv, k.size(2)), v);
    result[3] = dbias;
    if (table_learns) result[4] = dtable.sum(0).slice(1, 0, k.size(1)).flip(1).to(data["table_type"].toScalarType());
    return result;
  }
};

bool bias_fits(const Tensor& bias, const Tensor& distance_bias) {
  if (distance_bias.defined() && (bias.defined() || !fast_on_cpu(distance_bias))) return false;
  if (!bias.defined()) return true;
  const bool learns = bias.requires_grad() && at::GradMode::is_enabled(), of_each_head = bias.dim() == 4;
  return fast_on_cpu(bias) && bias.scalar_type() == at::kFloat && (!learns || of_each_head) && bias.stride(-1) == 1;
}

}  // namespace

bool tiles_fit(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options) {
  const bool one_type = k.scalar_type() == q.scalar_type() && v.scalar_type() == q.scalar_type();
  return fast_on_cpu(q) && one_type && q.size(1) > 1 && q.numel() > 0 && v.numel() > 0 && !options.absent.defined() &&
         bias_fits(options.bias, options.distance_bias);
}

Tensor attend_in_tiles(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options) {
  constexpr auto most = std::numeric_limits<int64_t>::max();
  const auto seed = options.dropout > 0 ? at::randint(most, {}, at::kLong).item<int64_t>() : 0;
  return applied<TiledAttention>(q, k, v, given(options.bias), given(options.distance_bias), options.window,
                                 options.scale, options.softcap, options.dropout, seed);
}

}  // namespace blockzoo
