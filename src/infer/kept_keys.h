#pragma once

#include <cstdint>

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// Keys and values of one layer, in memory that is taken at the first use.
class KeptKeys final : public LayerCache {
 public:
  /// A window of 0 keeps all columns; `room` is the number of columns there is memory for.
  KeptKeys(int64_t window, int64_t room) : window_(window), room_(room) {}

  /// The columns that the new ones may look at, and the new ones.
  KeysValues extend(const KeysValues& fresh) override;

  /// How many columns of each row hold no token, counted from the batch's first: `absent` [B], and its largest.
  void set_absent(int64_t most, const Tensor& absent);
  /// Rows `rows` [B'] of the batch take the places 0..B'-1; its first `columns` columns go.
  void keep_rows(const Tensor& rows, int64_t columns);
  int64_t bytes() const;

 private:
  void make_room(int64_t columns);
  Tensor absent_from(int64_t column) const;

  const int64_t window_, room_;
  Tensor keys_, values_;  // [B, room, G, K], in memory by heads, so that one head's columns lie together
  int64_t used_ = 0;      // columns that are filled
  int64_t before_ = 0;    // columns of the batch that were there before them and are gone
  int64_t most_absent_ = 0;
  Tensor absent_;  // [B]
};

}  // namespace blockzoo
