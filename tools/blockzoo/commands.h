#pragma once

#include <CLI/CLI.hpp>

namespace blockzoo {

/// What a command's callback throws to end the program with a code of its own, its message already said.
struct ExitWith {
  int code;
};

// Each adds one command to the program. Callbacks throw: ConfigError ends the program with 2, other errors with 1.
void add_train_command(CLI::App& app);
void add_ablate_command(CLI::App& app);
void add_report_command(CLI::App& app);
void add_compare_command(CLI::App& app);
void add_check_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_account_command(CLI::App& app);
void add_probe_command(CLI::App& app);
void add_list_command(CLI::App& app);
void add_zoo_command(CLI::App& app);
void add_generate_command(CLI::App& app);
void add_attend_command(CLI::App& app);
void add_tokenizer_command(CLI::App& app);
void add_logits_command(CLI::App& app);
void add_export_command(CLI::App& app);
void add_import_command(CLI::App& app);

}  // namespace blockzoo
