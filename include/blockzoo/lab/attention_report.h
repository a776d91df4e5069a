#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blockzoo/infer/attention_maps.h"
#include "blockzoo/infer/induction.h"

namespace blockzoo {

/// One head's weights for a text of T tokens.
struct AttentionHead {
  int64_t layer = 0, head = 0;
  Tensor weights;  // [T, T]
  HeadFigures figures;
};

/// What `blockzoo attend` found.
struct AttentionReport {
  std::string model;                 // where it came from
  std::vector<int64_t> ids;          // of the text; empty when none was read
  std::vector<std::string> tokens;   // as text, one an id
  std::vector<AttentionHead> heads;  // those that were asked for, by layer and head
  std::optional<InductionScores> induction;
};

/// The induction score of a head; null when none was taken.
const InductionHead* induction_of(const AttentionReport& report, int64_t layer, int64_t head);

/// One JSON document. Figures that are not known are null; a head's `weights` are lists, one a query, of its weights on
/// the keys up to itself, to six digits. Text that is no UTF-8 has U+FFFD in it.
std::string attention_json(const AttentionReport& report);

/// One self-contained HTML page: a small map of each head, a large one with the weight under the pointer, a table. A
/// weight w takes one byte, round(255 sqrt(w)), so it is told to within 0.4 %.
/// Errors: std::runtime_error when the page would be above 64 MiB.
std::string attention_page(const AttentionReport& report);

}  // namespace blockzoo
