#include "blockzoo/lab/ablate.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "blockzoo/lab/effect.h"
#include "blockzoo/lab/report.h"
#include "blockzoo/lab/report_page.h"
#include "blockzoo/lab/settings.h"
#include "blockzoo/lab/studied_keys.h"
#include "blockzoo/lab/verdict.h"
#include "blockzoo/train/stop.h"
#include "checks.h"
#include "commands.h"

namespace blockzoo {
namespace {

struct AblateArguments {
  std::string file;
  std::vector<std::string> sets;
  std::string out;
  int64_t jobs = 0;
  bool dry_run = false;
  bool fail_fast = false;
  bool quiet = false;
  bool json = false;
};

/// Seconds that a run will take by three timed steps, after one that warms up; nothing is written.
double estimate_s(const RunConfig& config) {
  constexpr int64_t timed = 3;
  Session session(config);
  session.advance();
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < timed; ++i) session.advance();
  const double per_step = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / timed;
  return per_step * static_cast<double>(config.train.steps);
}

void show_plan(const Study& study, const std::string& file, int64_t jobs) {
  std::cout << fmt::format("study {}: {} runs\n", study.name, study.runs.size());
  at::set_num_threads(static_cast<int>(std::max<int64_t>(1, thread_count({}) / jobs)));
  const auto effects = effects_of(study);
  refuse_without_effect(effects, file);
  for (const auto& effect : effects) std::cout << fmt::format("arm {}: {}\n", effect.arm, effect.in_words());
  for (const auto& sentence : mixed_changes(study)) std::cout << sentence << "\n";
  double total = 0;
  for (const auto& setting : settings_of(study)) {
    const auto& run = *setting.run;
    const double seconds = estimate_s(run.config);
    total += seconds * static_cast<double>(setting.seeds.size());
    std::cout << fmt::format("\n{}\n  folder {}, about {} a run\n", setting.title(), run.folder.parent_path().string(),
                             spoken_time(seconds));
    if (run.match) std::cout << fmt::format("  {} {}, {}\n", run.match->key, run.match->value, describe(*run.match));
    if (run.differences.empty()) std::cout << "  the base itself\n";
    for (const auto& [path, before, after] : run.differences)
      std::cout << fmt::format("  {}: {} instead of {}\n", path, after, before);
  }
  std::cout << fmt::format("\nabout {} in all, {} at a time; nothing was run\n",
                           spoken_time(total / static_cast<double>(jobs)), jobs);
}

void print_json(const Study& study, const std::vector<RunOutcome>& outcomes, const std::filesystem::path& folder) {
  nlohmann::ordered_json json = {{"study", study.name}, {"folder", folder.string()}, {"runs", nlohmann::json::array()}};
  for (size_t i = 0; i < outcomes.size(); ++i) {
    json["runs"].push_back({{"folder", study.runs[i].folder.generic_string()},
                            {"arm", study.runs[i].arm},
                            {"record", nlohmann::ordered_json::parse(to_json(outcomes[i].record))}});
  }
  std::cout << json.dump(2) << "\n";
}

/// What a match came to, a line for each arm and point.
void tell_matches(const Study& study) {
  for (const auto& setting : settings_of(study)) {
    if (const auto& match = setting.run->match)
      fmt::print(stderr, "{}: {} {}, {}\n", setting.run->setting(), match->key, match->value, describe(*match));
  }
}

/// Where the study goes; its name is in the file, or the file's.
std::filesystem::path folder_of(const AblateArguments& arguments) {
  if (!arguments.out.empty()) return arguments.out;
  return std::filesystem::path("runs") / study_name(arguments.file);
}

void ablate(const AblateArguments& arguments) {
  const auto folder = folder_of(arguments);
  StepClock clock;
  clock.read(folder);
  const auto cores = thread_count({});
  at::set_num_threads(static_cast<int>(std::max<int64_t>(1, cores / (arguments.jobs > 0 ? arguments.jobs : cores))));
  const auto study = load_study(arguments.file, arguments.sets, clock);
  const auto jobs = arguments.jobs > 0 ? arguments.jobs : default_jobs(study);
  if (arguments.dry_run) return show_plan(study, arguments.file, jobs);
  const auto effects = effects_of(study);
  refuse_without_effect(effects, arguments.file);
  if (!arguments.quiet) tell_matches(study);
  std::filesystem::create_directories(folder);
  clock.write(folder);
  const auto outcomes = run_study(study, {.folder = folder,
                                          .program = std::filesystem::read_symlink("/proc/self/exe"),
                                          .jobs = jobs,
                                          .fail_fast = arguments.fail_fast,
                                          .talk = arguments.quiet ? Talk::kQuiet : Talk::kNormal});
  write_effects(folder, effects);
  write_report(folder, study, outcomes);
  auto found = read_study_folder(folder);
  found.outcomes = outcomes;
  write_report_page(found);
  if (arguments.json) {
    print_json(study, outcomes, folder);
  } else if (!arguments.quiet) {
    std::cout << "\n" << study.question << "\n\n" << terminal_table(summarise(study, outcomes)) << "\n";
    for (const auto& sentence : judge(study, outcomes).sentences) std::cout << sentence << "\n";
    std::cout << "\n";
    for (const auto& sentence : fairness(study, outcomes)) std::cout << sentence << "\n";
    std::cout << "\nin " << folder.string()
              << ": report.html, report.md, results.csv (a line an arm), runs.csv (a line a run), comparisons.csv, and "
                 "a folder for "
                 "each run\n";
  }
  if (stop_signal() != 0) throw ExitWith{128 + stop_signal()};
  for (const auto& outcome : outcomes) {
    const auto status = outcome.record.status;
    if (status != RunStatus::kFinished && status != RunStatus::kDiverged) throw ExitWith{3};
  }
}

}  // namespace

void add_ablate_command(CLI::App& app) {
  auto arguments = std::make_shared<AblateArguments>();
  auto* command = app.add_subcommand("ablate", "Run a study: every arm, every swept value, every seed");
  command->add_option("file", arguments->file, "study file (YAML), or a name such as studies/norm_position.yaml")
      ->required();
  command->add_option("--set", arguments->sets, "override of the base, as in --set train.steps=50; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--out", arguments->out, "folder of the study (runs/<name>); finished runs in it are kept");
  command->add_option("--jobs", arguments->jobs, "runs at a time; the cores are shared among them")->check(above_zero);
  command->add_flag("--dry-run", arguments->dry_run,
                    "show every run, what differs and how long it will take; run nothing");
  command->add_flag("--fail-fast", arguments->fail_fast, "stop at the first run that fails");
  command->add_flag("--quiet", arguments->quiet, "say nothing but errors");
  command->add_flag("--json", arguments->json, "print every run's record as JSON on standard output");
  command->footer("Example: blockzoo ablate studies/norm_position.yaml --out runs/mine --jobs 2");
  command->callback([arguments] { ablate(*arguments); });
}

}  // namespace blockzoo
