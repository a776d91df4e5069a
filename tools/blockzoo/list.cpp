#include <iostream>
#include <memory>

#include "blockzoo/lab/catalog.h"
#include "blockzoo/lab/export_table.h"
#include "blockzoo/lab/parameter_tables.h"
#include "commands.h"

namespace blockzoo {
namespace {

struct ListArguments {
  std::string name;
  bool json = false;
  bool markdown = false;
  bool parameters = false;
  bool exports = false;
};

void list(const ListArguments& arguments) {
  if (arguments.parameters) {
    std::cout << parameter_tables();
    return;
  }
  if (arguments.exports) {
    std::cout << export_table(zoo()) << "\n" << export_reasons(zoo());
    return;
  }
  const auto& whole = catalog();
  const auto chosen = arguments.name.empty() ? whole : select(whole, arguments.name);
  std::cout << (arguments.json ? to_json(chosen) : arguments.markdown ? to_markdown(chosen) : to_text(chosen));
}

}  // namespace

void add_list_command(CLI::App& app) {
  auto arguments = std::make_shared<ListArguments>();
  auto* command =
      app.add_subcommand("list", "List every family of variants with its kinds, their fields, defaults and sources");
  command->add_option("name", arguments->name,
                      "only this family (norm), kind (rms_norm), section (train) or name (SwiGLU)");
  auto* json = command->add_flag("--json", arguments->json, "as JSON");
  auto* markdown = command->add_flag("--markdown", arguments->markdown, "as Markdown")->excludes(json);
  auto* parameters = command
                         ->add_flag("--parameters", arguments->parameters,
                                    "names and shapes of the parameters of every kind, as Markdown")
                         ->excludes(json)
                         ->excludes(markdown);
  command
      ->add_flag("--exports", arguments->exports,
                 "which class of transformers each model of the zoo exports to, as Markdown")
      ->excludes(json)
      ->excludes(markdown)
      ->excludes(parameters);
  command->footer("Example: blockzoo list norm");
  command->callback([arguments] { list(*arguments); });
}

}  // namespace blockzoo
