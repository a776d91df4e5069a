#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <string_view>

#include "blockzoo/core/fields.h"
#include "blockzoo/nn/types.h"

namespace blockzoo {

struct AttendOptions;

/// What a position encoding needs to know about the layers that use it.
struct PositionDims {
  int64_t model = 0;         // D
  int64_t context = 0;       // positions 0..context-1 exist
  int64_t heads = 0;         // H
  int64_t rotary_width = 0;  // width of the vectors that rotate() is given
};

/// A position encoding acts in up to four places; each hook does nothing unless a kind says otherwise.
class PositionImpl : public torch::nn::Module {
 public:
  /// On the embeddings: x [B, T, D] -> [B, T, D].
  virtual Tensor embed(const Tensor& x, const Places& places) const;
  /// On queries and keys alike: x [B, T, heads, rotary_width] -> the same shape.
  virtual Tensor rotate(const Tensor& x, const Places& places) const;
  /// Added to the score of a key 0 to S-1 places behind its query: [H, S]; undefined means nothing.
  virtual Tensor distance_bias(int64_t distances) const;
  /// What meets the keys in the queries' place: q [B, T, H, rotary_width] -> the same shape.
  virtual Tensor content_queries(const Tensor& q) const;
  /// Added to the scores, times their factor, for such queries, which stand at the last T of S positions in a row:
  /// [B, H, T, S], any numbers for keys after a query; undefined means nothing. It knows distances alone, so it is the
  /// same wherever the S positions are.
  virtual Tensor relative_scores(const Tensor& q, int64_t keys, double factor) const;

  /// Puts all that is added to the scores of `q` and `keys` keys into the options, whose scale is their factor.
  void add_scores(const Tensor& q, int64_t keys, AttendOptions& options) const;

  /// Tables that are not learned keep their type: in bf16 position 257 would be 256, and bucket numbers are no floats.
  void to(at::Device device, at::ScalarType dtype, bool non_blocking = false) override;
  void to(at::ScalarType dtype, bool non_blocking = false) override;
  using torch::nn::Module::to;

 protected:
  /// The rows of a table [positions, ...] for `count` tokens: [T, ...], or [B, T, ...] where rows stand differently.
  /// Errors: `kind` by name, where a place is beyond the table.
  static Tensor rows_at(const Places& places, int64_t count, const Tensor& table, std::string_view kind);
  static void check_rows(const Places& places, int64_t count, const Tensor& table, std::string_view kind);
};
TORCH_MODULE(Position);

}  // namespace blockzoo
