#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "blockzoo/nn/model.h"

namespace blockzoo {

class KeptKeys;

/// Keys and values of every layer for a batch of sequences that end together: a shorter one begins with columns that
/// hold no token. A layer keeps what its attention says: the heads of its keys and values; the latent and the shared
/// rotary key; nothing, where it reuses those of an earlier layer. With a window it keeps window - 1 columns and one
/// chunk, otherwise all. Memory is taken once, at the first use of a layer.
class KvCache {
 public:
  struct Size {
    int64_t columns = 0;  // most that are read, ever
    int64_t chunk = 1;    // most that are read at a time
  };

  /// `absent` says for each row how many columns come before its first token.
  KvCache(const ModelConfig& config, const Size& size, const std::vector<int64_t>& absent, at::Device device);
  ~KvCache();

  /// What the next `tokens` columns come after. They count as read: the model must read them, once.
  /// Errors: more than a chunk, or more than the columns there is memory for.
  Past next(int64_t tokens);

  /// Keeps these rows in this order, where one may occur more than once, and drops columns that hold no token of any.
  void keep_rows(const std::vector<int64_t>& rows);

  int64_t columns() const { return columns_; }  // that have been read and are not dropped
  int64_t bytes() const;                        // of memory taken

 private:
  void set_absent(const std::vector<int64_t>& absent);

  const Size size_;
  const at::Device device_;
  std::vector<std::unique_ptr<KeptKeys>> layers_;
  std::vector<int64_t> absent_;
  Tensor absent_on_device_;  // [B], undefined when no column is absent
  int64_t columns_ = 0;
};

}  // namespace blockzoo
