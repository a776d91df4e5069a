#include "blockzoo/lab/bench.h"

#include <iostream>
#include <memory>

#include "blockzoo/lab/generation_bench.h"
#include "checks.h"
#include "commands.h"

namespace blockzoo {
namespace {

struct BenchArguments {
  std::string file;
  std::vector<std::string> sets;
  std::string scale;
  int64_t steps = 10;
  std::string inputs;
  GenerationLoad load;
  bool generation = false;
  bool json = false;
  bool explain = false;
  bool first = false;
};

void run_bench(const BenchArguments& arguments) {
  const auto config = load_run_config(arguments.file, arguments.sets, arguments.scale);
  if (arguments.explain) {
    std::cout << explain(config);
  } else if (arguments.first) {
    first_update(config);
  } else if (!arguments.inputs.empty()) {
    write_bench_inputs(config, arguments.steps, arguments.inputs);
  } else if (arguments.generation) {
    const auto result = bench_generation(config, arguments.load);
    std::cout << (arguments.json ? to_json(result) : to_text(result));
  } else {
    const auto result = bench(config, arguments.steps);
    std::cout << (arguments.json ? to_json(result) : to_text(result));
  }
}

}  // namespace

void add_bench_command(CLI::App& app) {
  auto arguments = std::make_shared<BenchArguments>();
  auto* command = app.add_subcommand("bench", "Time a run's updates, by what operators are for, or its generation");
  command->add_option("file", arguments->file, "run file (YAML), or a name such as models/tiny.yaml or llama3-8b")
      ->required();
  command->add_option("--set", arguments->sets, "override, as in --set train.precision=bfloat16; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--scale", arguments->scale, "make the model smaller: 1/16, 0.25 or tiny");
  command->add_option("--steps", arguments->steps, "updates that are timed")->check(above_zero);
  auto* generation =
      command->add_flag("--generate", arguments->generation, "time generation instead, greedy, in train.precision");
  const auto of_generation = [&](const char* name, int64_t& value, int64_t least, const char* help) {
    command->add_option(name, value, help)
        ->check(CLI::Range(least, int64_t{1} << 40))
        ->needs(generation)
        ->capture_default_str();
  };
  of_generation("--texts", arguments->load.texts, 1, "texts that are continued together");
  of_generation("--prompt-tokens", arguments->load.prompt_tokens, 1, "tokens of each text to begin with");
  of_generation("--new-tokens", arguments->load.new_tokens, 2, "tokens of each text to time");
  command->add_flag("--json", arguments->json, "print the figures as JSON");
  command->add_flag("--explain", arguments->explain, "say instead what is chosen on this machine, and what slows it");
  command->add_flag("--first", arguments->first, "end after the first update, for timing the start from outside");
  command->add_option("--inputs", arguments->inputs,
                      "instead write start values and batches to this safetensors file, for another program");
  command->footer("Example: blockzoo bench models/tiny.yaml --set train.precision=bfloat16");
  command->callback([arguments] { run_bench(*arguments); });
}

}  // namespace blockzoo
