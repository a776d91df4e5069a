#include "blockzoo/lab/compare.h"

#include <iostream>
#include <memory>

#include "commands.h"

namespace blockzoo {

void add_compare_command(CLI::App& app) {
  struct Arguments {
    std::string first, second;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("compare", "Show two runs side by side");
  command->add_option("first", arguments->first, "folder of a run")->required();
  command->add_option("second", arguments->second, "folder of another run")->required();
  command->footer(
      "Example: blockzoo compare runs/norm_position/pre_norm/lr-6e-3/seed0 "
      "runs/norm_position/post_norm/lr-6e-3/seed0");
  command->callback([arguments] { std::cout << compare_runs(arguments->first, arguments->second); });
}

}  // namespace blockzoo
