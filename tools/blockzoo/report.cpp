#include "blockzoo/lab/report.h"

#include <iostream>
#include <memory>

#include "blockzoo/lab/report_page.h"
#include "commands.h"

namespace blockzoo {
namespace {

void report(const std::vector<std::string>& folders) {
  for (const auto& folder : folders) {
    const auto found = read_study_folder(folder);
    write_report(found.folder, found.study, found.outcomes);
    write_report_page(found);
    std::cout << (found.folder / "report.html").string() << "\n";
  }
}

}  // namespace

void add_report_command(CLI::App& app) {
  auto folders = std::make_shared<std::vector<std::string>>();
  auto* command = app.add_subcommand(
      "report",
      "Write report.html, report.md, results.csv and runs.csv anew from what the runs of a study have recorded");
  command->add_option("folder", *folders, "folder of a study, as `ablate` made it; several may be given")->required();
  command->footer("Example: blockzoo report runs/norm_position");
  command->callback([folders] { report(*folders); });
}

}  // namespace blockzoo
