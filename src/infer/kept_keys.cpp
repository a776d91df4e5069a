#include "infer/kept_keys.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace blockzoo {
namespace {

/// Memory for [rows, room, heads, width], by heads.
Tensor memory(int64_t rows, int64_t room, int64_t heads, int64_t width, const at::TensorOptions& options) {
  return at::empty({rows, heads, room, width}, options).transpose(1, 2);
}

/// Memory for `room` columns of x [B, T, heads, width].
Tensor memory_like(const Tensor& x, int64_t room) {
  return x.defined() ? memory(x.size(0), room, x.size(2), x.size(3), x.options()) : Tensor();
}

/// A single column, head by head: a step of generation has one for every layer, and a view and a copy of LibTorch's
/// take longer than the bytes do.
void write_column(const Tensor& memory, int64_t column, const Tensor& x) {
  const auto bytes = static_cast<int64_t>(x.element_size());
  auto* const to = static_cast<char*>(memory.mutable_data_ptr()) + bytes * column * memory.stride(1);
  const auto* const from = static_cast<const char*>(x.const_data_ptr());
  for (int64_t row = 0; row < x.size(0); ++row) {
    for (int64_t head = 0; head < x.size(2); ++head)
      std::memcpy(to + bytes * (row * memory.stride(0) + head * memory.stride(2)),
                  from + bytes * (row * x.stride(0) + head * x.stride(2)), static_cast<size_t>(bytes * x.size(3)));
  }
}

void write_columns(const Tensor& memory, int64_t column, const Tensor& x) {
  if (!memory.defined()) return;
  if (x.size(1) == 1 && x.is_cpu() && x.stride(3) == 1 && x.scalar_type() == memory.scalar_type())
    return write_column(memory, column, x);
  memory.slice(1, column, column + x.size(1)).copy_(x);
}

Tensor columns_of(const Tensor& memory, int64_t column, int64_t columns) {
  return memory.defined() ? memory.slice(1, column, column + columns) : Tensor();
}

/// Rows `rows` of the columns from `column` on, at the beginning of memory of the same room.
Tensor moved_rows(const Tensor& from, const Tensor& rows, int64_t column, int64_t columns) {
  if (!from.defined()) return {};
  const auto fresh = memory(rows.size(0), from.size(1), from.size(2), from.size(3), from.options());
  write_columns(fresh, 0, columns_of(from, column, columns).index_select(0, rows));
  return fresh;
}

}  // namespace

KeysValues KeptKeys::extend(const KeysValues& fresh) {
  const auto columns = fresh.keys.size(1);
  if (!keys_.defined()) {
    keys_ = memory_like(fresh.keys, room_);
    values_ = memory_like(fresh.values, room_);
  }
  if (used_ + columns > room_) make_room(columns);
  write_columns(keys_, used_, fresh.keys);
  write_columns(values_, used_, fresh.values);
  used_ += columns;
  const auto seen = window_ == 0 ? used_ : std::min(used_, window_ - 1 + columns);
  return {columns_of(keys_, used_ - seen, seen), columns_of(values_, used_ - seen, seen),
          absent_from(before_ + used_ - seen)};
}

void KeptKeys::make_room(int64_t columns) {
  const auto kept = window_ == 0 ? used_ : std::min(used_, window_ - 1), gone = used_ - kept;
  TORCH_CHECK(kept + columns <= room_, "[kv_cache] there is room for ", room_, " columns, not for ", kept + columns);
  for (const auto& memory : {keys_, values_})
    if (memory.defined()) write_columns(memory, 0, columns_of(memory, gone, kept).clone());
  used_ = kept;
  before_ += gone;
}

Tensor KeptKeys::absent_from(int64_t column) const {
  return most_absent_ > column ? (absent_ - column).clamp_min(0) : Tensor();
}

void KeptKeys::set_absent(int64_t most, const Tensor& absent) {
  most_absent_ = most;
  absent_ = absent;
}

void KeptKeys::keep_rows(const Tensor& rows, int64_t columns) {
  const auto gone = std::max<int64_t>(columns - before_, 0);
  before_ = std::max<int64_t>(before_ - columns, 0);
  used_ = std::max<int64_t>(used_ - gone, 0);
  if (!keys_.defined()) return;
  keys_ = moved_rows(keys_, rows, gone, used_);
  values_ = moved_rows(values_, rows, gone, used_);
}

int64_t KeptKeys::bytes() const {
  int64_t sum = 0;
  for (const auto& memory : {keys_, values_}) sum += memory.defined() ? static_cast<int64_t>(memory.nbytes()) : 0;
  return sum;
}

}  // namespace blockzoo
