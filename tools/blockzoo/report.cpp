#include "blockzoo/lab/report.h"

#include <iostream>
#include <memory>

#include "blockzoo/lab/report_page.h"
#include "blockzoo/lab/tensorboard.h"
#include "commands.h"

namespace blockzoo {
namespace {

struct ReportArguments {
  std::vector<std::string> folders;
  bool tensorboard = false;
};

void report(const ReportArguments& arguments) {
  for (const auto& folder : arguments.folders) {
    const auto found = read_study_folder(folder);
    write_report(found.folder, found.study, found.outcomes);
    write_report_page(found);
    if (arguments.tensorboard) write_tensorboard(found.folder / "tensorboard", found);
    std::cout << (found.folder / "report.html").string() << "\n";
  }
}

}  // namespace

void add_report_command(CLI::App& app) {
  auto arguments = std::make_shared<ReportArguments>();
  auto* command = app.add_subcommand(
      "report", "Write report.html, report.md and the CSV files anew from what the runs of a study have recorded");
  command->add_option("folder", arguments->folders, "folder of a study, as `ablate` made it; several may be given")
      ->required();
  command->add_flag("--tensorboard", arguments->tensorboard,
                    "also write tensorboard/, event files for `tensorboard --logdir FOLDER/tensorboard`");
  command->footer("Example: blockzoo report runs/norm_position");
  command->callback([arguments] { report(*arguments); });
}

}  // namespace blockzoo
