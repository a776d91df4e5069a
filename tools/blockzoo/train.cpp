#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <memory>

#include "blockzoo/core/embedded.h"
#include "blockzoo/train/run.h"
#include "blockzoo/train/stop.h"
#include "checks.h"
#include "commands.h"

namespace blockzoo {
namespace {

struct TrainArguments {
  std::string file;
  std::vector<std::string> sets;
  std::string scale;
  std::string out;
  int64_t threads = 0;
  bool resume = false;
  bool quiet = false;
  bool json = false;
};

void train(const TrainArguments& arguments) {
  auto config = load_run_config(arguments.file, arguments.sets, arguments.scale);
  if (arguments.threads > 0) config.train.threads = arguments.threads;
  const auto name = bare_name(arguments.file);
  const RunOptions options{
      .folder = arguments.out.empty() ? std::filesystem::path("runs") / name : std::filesystem::path(arguments.out),
      .existing = arguments.resume ? Existing::kResume : Existing::kRefuse,
      .talk = arguments.quiet ? Talk::kQuiet : Talk::kNormal};
  const auto record = run_training(config, options);
  if (arguments.json) {
    std::cout << to_json(record);
  } else if (!arguments.quiet) {
    std::cout << fmt::format("{} after {} steps, {} tokens, {}; {:.0f} tokens/s\n", name_of(record.status), record.step,
                             record.tokens, spoken_time(record.train_s), record.tokens_per_s());
    if (record.validation) std::cout << describe(*record.validation) << "\n";
    std::cout << "in " << options.folder.string() << ": config.yaml, run.json, metrics.jsonl, checkpoints/\n";
    if (record.status == RunStatus::kInterrupted)
      std::cout << "the same command with --resume goes on from step " << record.step << "\n";
  }
  if (record.status == RunStatus::kInterrupted) throw ExitWith{128 + stop_signal()};
  if (record.status != RunStatus::kFinished) throw ExitWith{3};
}

}  // namespace

void add_train_command(CLI::App& app) {
  auto arguments = std::make_shared<TrainArguments>();
  auto* command = app.add_subcommand("train", "Train one run");
  command->add_option("file", arguments->file, "run file (YAML), or a name such as models/tiny.yaml or llama3-8b")
      ->required();
  command->add_option("--set", arguments->sets, "override, as in --set train.steps=500; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--scale", arguments->scale, "make the model smaller: 1/16, 0.25 or tiny");
  command->add_option("--out", arguments->out, "folder of the run (runs/<file>)");
  command->add_option("--threads", arguments->threads, "threads, instead of train.threads")->check(above_zero);
  command->add_flag("--resume", arguments->resume, "go on with the run in the folder, if there is one");
  command->add_flag("--quiet", arguments->quiet, "say nothing but errors");
  command->add_flag("--json", arguments->json, "print the run's record as JSON on standard output");
  command->footer("Example: blockzoo train models/tiny.yaml --set train.optimizer.lr=3e-3 --out runs/try");
  command->callback([arguments] { train(*arguments); });
}

}  // namespace blockzoo
