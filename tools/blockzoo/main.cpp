#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <malloc.h>
#include <spdlog/fmt/fmt.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "blockzoo/core/build_info.h"
#include "blockzoo/core/config_error.h"
#include "blockzoo/train/stop.h"
#include "commands.h"

namespace {

constexpr auto kExamples = R"(Examples:
  blockzoo ablate studies/norm_position.yaml        run a study that the program carries
  blockzoo ablate my_study.yaml --dry-run           show every run of a study, and what differs
  blockzoo report runs/norm_position                write the study's report.html anew
  blockzoo train models/tiny.yaml --set train.steps=500 --out runs/tiny
  blockzoo train models/tiny.yaml --out runs/tiny --resume
  blockzoo check my_run.yaml                        is it valid, and what does it resolve to
  blockzoo bench my_run.yaml                        where the time goes, next to the machine's limits
  blockzoo probe my_run.yaml                        activations, gradients and more, layer by layer
  blockzoo list norm                                the norms, their fields and their sources
  blockzoo generate --model runs/tiny --prompt "Once upon a time"
  blockzoo attend runs/tiny --prompt "Once upon a time" --induction
  blockzoo export runs/tiny --to hub/tiny           a folder that Hugging Face transformers loads
  blockzoo import hub/smollm2 --to smol.yaml        a run file and its weights, from such a folder
  blockzoo tokenizer train --vocab 10000 --special '<|endoftext|>' --to my_tokenizer texts/
  blockzoo zoo --filter layout=parallel             published models, their parameters and choices
  blockzoo train llama3-8b --scale tiny             one of them, small enough to train

Exit codes: 0 done, 1 an error, 2 a config is wrong, 3 a run failed or diverged, 130 or 143 stopped by Ctrl-C or SIGTERM.)";

std::string version() {
  const auto& build = blockzoo::build_info();
  return fmt::format("blockzoo {} (commit {}, {}, {}, LibTorch {})", build.version, build.commit, build.compiler,
                     build.build_type, build.libtorch);
}

/// Freed memory stays in the process: training asks for the same sizes again at every step. Small pieces are merged when
/// they are freed, and not at the next large request, of which a token of generation has many. The heap reaches at once
/// over addresses for half the machine's memory, of which none is taken before it is written to, so that all of it can
/// be had in huge pages: generation reads all weights for every token, and small pages make it look up too many places.
void keep_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, 64 << 20);
  mallopt(M_MXFAST, 0);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto reach = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) / 2 * page;
  void* memory = std::malloc(reach);
  if (memory == nullptr) return;  // where addresses are counted as memory
  void* first = memory;
  auto room = reach;
  if (std::align(page, page, first, room) != nullptr) madvise(first, room / page * page, MADV_HUGEPAGE);
  std::free(memory);
}

int say(const std::string& text, int code) {
  std::cerr << text << (text.empty() || text.back() != '\n' ? "\n" : "");
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  keep_memory();
  at::globalContext().setFlushDenormal(true);  // before LibTorch's threads exist, so that they inherit it
  std::signal(SIGXFSZ, SIG_IGN);               // a full quota is an error message, not an end
  blockzoo::watch_for_stop();

  CLI::App app("A zoo of transformer building blocks and an ablation trainer.", "blockzoo");
  app.footer(kExamples);
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  blockzoo::add_train_command(app);
  blockzoo::add_ablate_command(app);
  blockzoo::add_report_command(app);
  blockzoo::add_compare_command(app);
  blockzoo::add_check_command(app);
  blockzoo::add_bench_command(app);
  blockzoo::add_account_command(app);
  blockzoo::add_probe_command(app);
  blockzoo::add_list_command(app);
  blockzoo::add_zoo_command(app);
  blockzoo::add_generate_command(app);
  blockzoo::add_attend_command(app);
  blockzoo::add_tokenizer_command(app);
  blockzoo::add_logits_command(app);
  blockzoo::add_export_command(app);
  blockzoo::add_import_command(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  } catch (const blockzoo::ExitWith& exit) {
    return exit.code;
  } catch (const blockzoo::ConfigError& error) {
    return say(error.what(), 2);
  } catch (const c10::Error& error) {
    return say(fmt::format("error: {}", error.what_without_backtrace()), 1);
  } catch (const std::exception& error) {
    return say(fmt::format("error: {}", error.what()), 1);
  }
}
