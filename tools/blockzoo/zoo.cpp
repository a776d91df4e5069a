#include "blockzoo/lab/zoo.h"

#include <iostream>
#include <memory>

#include "commands.h"

namespace blockzoo {
namespace {

struct ZooArguments {
  std::string name;
  std::string scale;
  ZooView view;
  bool json = false;
  bool markdown = false;
};

void show(const ZooArguments& arguments) {
  if (!arguments.name.empty()) {
    const auto model = zoo_model(arguments.name, arguments.scale);
    std::cout << (arguments.json ? zoo_json(model) : zoo_text(model));
  } else if (arguments.markdown) {
    std::cout << zoo_page(zoo());
  } else {
    std::cout << (arguments.json ? zoo_table_json(zoo(), arguments.view) : zoo_table(zoo(), arguments.view));
  }
}

}  // namespace

void add_zoo_command(CLI::App& app) {
  auto arguments = std::make_shared<ZooArguments>();
  auto* command = app.add_subcommand("zoo", "List published models with their years, parameters and choices");
  auto* name = command->add_option("name", arguments->name, "one model in full: a name such as llama3-8b, or a file");
  command->add_option("--scale", arguments->scale, "made smaller: 1/16, 0.25 or tiny")->needs(name);
  command->add_option("--filter", arguments->view.filter, "conditions that all hold, as in norm=rms_norm,year>=2024")
      ->excludes(name);
  command->add_option("--sort", arguments->view.sort, "a column; -year is downwards")->excludes(name);
  command->add_option("--columns", arguments->view.columns, "what to show, as in name,parameters,ffn_ratio")
      ->excludes(name);
  auto* json = command->add_flag("--json", arguments->json, "as JSON, every column");
  command->add_flag("--markdown", arguments->markdown, "the page docs/zoo.md")->excludes(json)->excludes(name);
  command->footer(
      "Columns: name, year, organisation, parameters, published, norm, layout, position, theta, attention, ffn, "
      "ffn_ratio, aspect,\nhead_ratio, head_width, layers, width, vocabulary, context, tied, biases, window, "
      "stabilisers, dropout, missing.\n"
      "Example: blockzoo zoo --filter attention=GQA,position=none --sort parameters");
  command->callback([arguments] { show(*arguments); });
}

}  // namespace blockzoo
