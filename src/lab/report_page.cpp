#include "blockzoo/lab/report_page.h"

#include "blockzoo/core/embedded.h"
#include "blockzoo/hub/atomic_file.h"
#include "lab/page_parts.h"
#include "lab/report_data.h"

namespace blockzoo {

std::string report_page(const StudyFolder& found) {
  return filled_page(embedded_page(), found.study.name, report_data(found));
}

void write_report_page(const StudyFolder& found) { write_file(found.folder / "report.html", report_page(found)); }

}  // namespace blockzoo
