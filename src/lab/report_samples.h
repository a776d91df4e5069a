#pragma once

#include <string>

#include "blockzoo/lab/report.h"

namespace blockzoo {

/// What the models wrote, one text for each row: that of the first seed that has one. Empty when there is none.
std::string samples_markdown(const std::vector<SummaryRow>& rows);

}  // namespace blockzoo
