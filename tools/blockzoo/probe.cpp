#include <ATen/Parallel.h>
#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <memory>

#include "blockzoo/lab/probe_text.h"
#include "blockzoo/train/record.h"
#include "blockzoo/train/run.h"
#include "commands.h"

namespace blockzoo {
namespace {

struct ProbeArguments {
  std::string source;
  std::vector<std::string> sets;
  std::string scale;
  bool json = false;
};

std::vector<Probe> probes_of_run(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "run.json"))
    throw std::runtime_error(folder.string() + " is no run's folder: it has no run.json");
  read_record(folder);  // of another schema, say
  auto probes = recorded_probes(folder);
  if (!probes.empty()) return probes;
  const auto config = load_run_config(folder / "config.yaml");
  at::set_num_threads(static_cast<int>(thread_count(config.train.threads)));
  return probe_checkpoints(folder, config);
}

std::vector<Probe> probes_of_file(const ProbeArguments& arguments) {
  const auto config = load_run_config(arguments.source, arguments.sets, arguments.scale);
  at::set_num_threads(static_cast<int>(thread_count(config.train.threads)));
  Session session(resolved(config));
  return {probe(session)};
}

void look_inside(const ProbeArguments& arguments) {
  const bool run = std::filesystem::is_directory(arguments.source);
  if (run && (!arguments.sets.empty() || !arguments.scale.empty()))
    throw std::runtime_error(arguments.source +
                             " is a run, whose settings are fixed; --set and --scale go with a file");
  const auto probes = run ? probes_of_run(arguments.source) : probes_of_file(arguments);
  std::cout << (arguments.json ? probe_json(probes) : probe_text(probes));
}

}  // namespace

void add_probe_command(CLI::App& app) {
  auto arguments = std::make_shared<ProbeArguments>();
  auto* command = app.add_subcommand("probe", "Look inside a model layer by layer, before it is trained and after");
  command
      ->add_option("run", arguments->source,
                   "run file or name: before the first update; a run's folder: what it recorded (train.probe_every), "
                   "else its start and the checkpoints it kept")
      ->required();
  command->add_option("--set", arguments->sets, "override of a file, as in --set model.layers=12; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--scale", arguments->scale, "make the model smaller: 1/16, 0.25 or tiny");
  command->add_flag("--json", arguments->json, "print every probe as JSON");
  command->footer("Example: blockzoo probe models/tiny.yaml --set model.block.layout.kind=post_norm");
  command->callback([arguments] { look_inside(*arguments); });
}

}  // namespace blockzoo
