#pragma once

#include <cstdint>
#include <vector>

namespace blockzoo {

/// Where training windows begin: a pure function of (tokens, context, seed, position).
///
/// A window is context + 1 tokens: the inputs and, one further, the targets. An epoch has W = floor((tokens - 1) /
/// context) windows that begin at phase, phase + context, ..., in an order of its own; phase is drawn from 0 ..
/// context - 1 for each epoch, so that cuts fall elsewhere each time. The last window is pulled back where it would
/// pass the end. So each epoch visits each of its windows once, no token but the first is out of reach, and an epoch
/// leaves out at most the first `phase` tokens and fewer than `context` at the end. Position p is window p mod W of
/// epoch floor(p / W); batches may cross epochs and be larger than one.
class WindowOrder {
 public:
  /// Requires tokens > context > 0.
  WindowOrder(int64_t tokens, int64_t context, uint64_t seed);

  int64_t windows_per_epoch() const { return windows_; }
  int64_t start(int64_t position) const;

 private:
  int64_t tokens_;
  int64_t context_;
  uint64_t seed_;
  int64_t windows_;
};

/// Begins of `count` windows of context + 1 tokens whose targets do not overlap, spread evenly from the first token to
/// the last; all that fit when count is 0 or larger than that. Requires tokens > context > 0.
std::vector<int64_t> even_windows(int64_t tokens, int64_t context, int64_t count);

}  // namespace blockzoo
