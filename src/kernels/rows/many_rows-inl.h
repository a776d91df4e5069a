// Y = X M in panels of M's columns, of numbers or of pairs of bfloat16, once for every instruction set (Highway's
// pattern).
#if defined(BLOCKZOO_KERNELS_ROWS_MANY_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BLOCKZOO_KERNELS_ROWS_MANY_ROWS_INL_H_
#undef BLOCKZOO_KERNELS_ROWS_MANY_ROWS_INL_H_
#else
#define BLOCKZOO_KERNELS_ROWS_MANY_ROWS_INL_H_
#endif

#include <algorithm>

#include "kernels/rows/many_rows.h"
#include "kernels/rows/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

// Blocks after Goto and van de Geijn (2008, Anatomy of High-Performance Matrix Multiplication), with X read as it lies:
// a panel of M and a block of X's rows share the second cache, and the registers hold 8 rows by 3 vectors of sums where
// there are 32 of them, 4 by 3 where there are 16.
constexpr size_t kBlockRows = 64;  // rows of a tile
constexpr size_t kSideRows = HWY_TARGET == HWY_AVX3 ? 8 : 4;
constexpr size_t kMostVectors = 3;
constexpr size_t kPanelWidth = HWY_TARGET == HWY_AVX3 ? 48 : 24;  // columns of M side by side, columns of a tile
constexpr size_t kDepth = 1536;                                   // rows of M taken at once

HWY_INLINE constexpr size_t parts_of(size_t count, size_t size) { return (count + size - 1) / size; }

/// A tile's place and what it reads: rows of X from x on, M's panel, of which `width` columns are there.
template <class Element, class T>
struct Tile {
  StridedOf<Element> x;
  bool x_is_fresh;  // no tile before has read these rows
  const Element* panel;
  const T* bias;  // or null
  size_t rows, depth, width;
  float* sums;  // [kBlockRows, kPanelWidth], of the depth before
  Dense<T> y;
};

/// Requests for what the next kRows rows need, one at each depth: lines of X, where it is fresh, and of Y.
template <size_t kRows, class Element, class T>
class Requests {
 public:
  HWY_INLINE Requests(const Tile<Element, T>& tile, size_t r, size_t first, size_t last)
      : first_(first),
        of_x_(tile.x_is_fresh ? kRows * parts_of((last - first) * sizeof(Element), kLine) : 0),
        of_y_(last < tile.depth ? 0 : kRows * (parts_of(kPanelWidth * sizeof(T), kLine) + 1)),
        x_{tile.x.from + (r + kRows) * tile.x.row + first, tile.x.row},
        y_{tile.y.from + (r + kRows < tile.rows ? (r + kRows) * tile.y.row : kPanelWidth), tile.y.row} {}

  HWY_INLINE void at(size_t p) const {
    const auto request = p - first_;
    if (request < of_x_) return ask(x_, request);
    if (request - of_x_ < of_y_) ask(y_, request - of_x_);
  }

 private:
  static constexpr size_t kLine = 64;  // bytes that memory gives at once

  template <class Number>
  HWY_INLINE static void ask(const Dense<Number>& from, size_t request) {
    __builtin_prefetch(from.from + request % kRows * from.row + request / kRows * (kLine / sizeof(Number)), 0, 2);
  }

  size_t first_, of_x_, of_y_;
  Dense<const Element> x_;
  Dense<T> y_;
};

/// kRows rows from r on and kVectors vectors from column i on, over the depth from `first` to `last`.
template <size_t kRows, size_t kVectors, class Element, class T>
HWY_INLINE void tile_block(const Tile<Element, T>& tile, size_t r, size_t i, size_t first, size_t last) {
  const Requests<kRows, Element, T> requests(tile, r, first, last);
  const auto left = [&](size_t v) HWY_ATTR { return std::min(lanes(), tile.width - i - v * lanes()); };
  const auto sums = [&](size_t row, size_t v)
                        HWY_ATTR { return tile.sums + (r + row) * kPanelWidth + i + v * lanes(); };
  register_block<kRows, kVectors>(
      first, last, StridedOf<Element>{tile.x.from + r * tile.x.row, tile.x.row, 1},
      Dense<const Element>{tile.panel + i, kPanelWidth},
      [&](size_t row, size_t v) HWY_ATTR {
        if (first > 0) return load_whole(sums(row, v));
        return tile.bias == nullptr ? hn::Zero(Floats()) : load(tile.bias + i + v * lanes(), left(v));
      },
      [&](size_t p) HWY_ATTR { requests.at(p); },
      [&](size_t row, size_t v, Vector sum) HWY_ATTR {
        if (last < tile.depth) return store_whole(sum, sums(row, v));
        Arithmetic<Element>::put(sum, tile.y.from + (r + row) * tile.y.row + i + v * lanes(), left(v));
      });
}

template <size_t kRows, class Element, class T>
HWY_INLINE void tile_rows(const Tile<Element, T>& tile, size_t r, size_t first, size_t last) {
  for (size_t i = 0; i < tile.width; i += kMostVectors * lanes()) {
    const auto vectors = parts_of(tile.width - i, lanes());
    if (vectors >= kMostVectors)
      tile_block<kRows, kMostVectors>(tile, r, i, first, last);
    else if (vectors == 2)
      tile_block<kRows, 2>(tile, r, i, first, last);
    else
      tile_block<kRows, 1>(tile, r, i, first, last);
  }
}

template <class Element, class T>
HWY_INLINE void whole_tile(const Tile<Element, T>& tile) {
  for (size_t first = 0; first < tile.depth; first += kDepth) {
    const auto last = std::min(tile.depth, first + kDepth);
    size_t r = 0;
    for (; r + kSideRows <= tile.rows; r += kSideRows) tile_rows<kSideRows>(tile, r, first, last);
    if (kSideRows > 4 && r + 4 <= tile.rows) {
      tile_rows<4>(tile, r, first, last);
      r += 4;
    }
    for (; r < tile.rows; ++r) tile_rows<1>(tile, r, first, last);
  }
}

HWY_INLINE size_t panels_of(const ManyRowsShape& shape) { return parts_of(shape.outputs, kPanelWidth); }

/// The tiles first to last of Y, all of one block of rows before those of the next. rows_of(row, count) gives X's
/// rows, `depth` elements each.
template <class Element, class T, class RowsOf>
HWY_INLINE void tiles(const ManyRowsShape& shape, size_t depth, const RowsOf& rows_of, const Element* packed,
                      const T* bias, size_t first, size_t last, T* y) {
  HWY_ALIGN float sums[kBlockRows * kPanelWidth];
  const auto panels = panels_of(shape);
  for (size_t task = first; task < last;) {
    const auto row = task / panels * kBlockRows, rows = std::min(kBlockRows, shape.rows - row);
    const auto x = rows_of(row, rows);
    const auto begin = task, end = std::min(last, (task / panels + 1) * panels);
    for (; task < end; ++task) {
      const auto panel = task % panels, column = panel * kPanelWidth;
      whole_tile(Tile<Element, T>{.x = x,
                                  .x_is_fresh = task == begin,
                                  .panel = packed + column * depth,
                                  .bias = bias == nullptr ? nullptr : bias + column,
                                  .rows = rows,
                                  .depth = depth,
                                  .width = std::min(kPanelWidth, shape.outputs - column),
                                  .sums = sums,
                                  .y = {y + row * shape.outputs + column, shape.outputs}});
    }
  }
}

/// `width` rows of `depth` words, row_of(o), become columns of a panel, filled up with zeros.
template <class Word, class RowOf>
HWY_INLINE void turn_panel(const RowOf& row_of, size_t depth, size_t width, Word* panel) {
  static_assert(sizeof(Word) == sizeof(float));
  constexpr size_t kStretch = 64;  // of which a panel lies in the first cache
  for (size_t start = 0; start < depth; start += kStretch) {
    const auto end = std::min(depth, start + kStretch);
    size_t o = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::FixedTag<float, 4> four;
    const hn::RepartitionToWide<decltype(four)> two;
    const auto wide = [&](auto v) HWY_ATTR { return hn::BitCast(two, v); };
    for (; o + 4 <= width; o += 4) {
      size_t i = start;
      for (; i + 4 <= end; i += 4) {
        const auto row = [&](size_t r)
                             HWY_ATTR { return hn::LoadU(four, reinterpret_cast<const float*>(row_of(o + r) + i)); };
        const auto put = [&](size_t r, auto v) HWY_ATTR {
          hn::StoreU(hn::BitCast(four, v), four, reinterpret_cast<float*>(panel + (i + r) * kPanelWidth + o));
        };
        const auto a = row(0), b = row(1), c = row(2), d = row(3);
        const auto ab = wide(hn::InterleaveLower(four, a, b)), cd = wide(hn::InterleaveLower(four, c, d));
        const auto upper_ab = wide(hn::InterleaveUpper(four, a, b)), upper_cd = wide(hn::InterleaveUpper(four, c, d));
        put(0, hn::InterleaveLower(two, ab, cd));
        put(1, hn::InterleaveUpper(two, ab, cd));
        put(2, hn::InterleaveLower(two, upper_ab, upper_cd));
        put(3, hn::InterleaveUpper(two, upper_ab, upper_cd));
      }
      for (; i < end; ++i)
        for (size_t r = 0; r < 4; ++r) panel[i * kPanelWidth + o + r] = row_of(o + r)[i];
    }
#endif
    for (; o < width; ++o)
      for (size_t i = start; i < end; ++i) panel[i * kPanelWidth + o] = row_of(o)[i];
    for (size_t i = start; i < end; ++i)
      std::fill(panel + i * kPanelWidth + width, panel + (i + 1) * kPanelWidth, Word{});
  }
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
