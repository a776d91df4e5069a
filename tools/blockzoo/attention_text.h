#pragma once

#include <string>

#include "blockzoo/lab/attention_report.h"

namespace blockzoo {

/// How wide and how coloured a terminal is.
struct Screen {
  size_t columns = 100;
  bool colour = false;
};

/// What standard output is: its own width, or that in COLUMNS, or 100; colours on a terminal unless NO_COLOR is set.
Screen screen_of_output();

/// What was found on random sequences, in words; empty when nothing was asked.
std::string induction_text(const AttentionReport& report);

/// One line for each head: those of the text, or without one all that were scored; `*` marks induction heads.
std::string heads_table(const AttentionReport& report);

/// The maps of at most `most` heads in shades, a row for each query with its token: those with the most weight on other
/// tokens than the query's, the one before and the first, induction heads before others.
std::string maps_text(const AttentionReport& report, int64_t most, const Screen& screen);

}  // namespace blockzoo
