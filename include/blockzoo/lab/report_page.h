#pragma once

#include <string>

#include "blockzoo/lab/study_folder.h"

namespace blockzoo {

/// One HTML file that holds everything it needs: charts, their library, style and data. It can be made at any time of
/// a study; what is not known yet is said to be missing.
std::string report_page(const StudyFolder& found);

/// Writes report.html into the study's folder. Errors: std::system_error.
void write_report_page(const StudyFolder& found);

}  // namespace blockzoo
