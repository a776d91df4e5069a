#pragma once

#include <string>
#include <vector>

#include "blockzoo/lab/verdict.h"
#include "lab/points.h"

namespace blockzoo {

/// Two complete and comparable points on each part of the validation text; none where a seed was not measured by part.
/// To be corrected for being several.
std::vector<PartComparison> compared_by_part(const StudyPoint& arm, const StudyPoint& base);

/// "On repeated names window_8 is worse than full: +0.1000 bits per byte (...)."
std::string in_words(const PartComparison& comparison, const std::string& base);

/// Every comparison as a table; empty when there is none.
std::string parts_markdown(const Judgement& judgement);

/// A line a comparison: part, arm, both settings, seeds, losses, difference, interval, p values, verdict.
std::string parts_csv(const Judgement& judgement);

}  // namespace blockzoo
