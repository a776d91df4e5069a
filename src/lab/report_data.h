#pragma once

#include <string>

#include "blockzoo/lab/study_folder.h"

namespace blockzoo {

/// Everything that the page shows, as one JSON document. A number that is not known or not finite is null, never zero.
/// The rows have the numbers of results.csv to the last digit.
std::string report_data(const StudyFolder& found);

}  // namespace blockzoo
