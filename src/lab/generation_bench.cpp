#include "blockzoo/lab/generation_bench.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "blockzoo/infer/generate.h"
#include "blockzoo/lab/account.h"
#include "blockzoo/train/run.h"
#include "blockzoo/train/session.h"
#include "infer/step_copies.h"
#include "lab/limits.h"
#include "train/machine.h"

namespace blockzoo {
namespace {

/// Ids that a text of another program can begin with too: those of text t are t, t + 7, t + 14, ... round the
/// vocabulary.
std::vector<std::vector<int64_t>> made_up_prompts(const GenerationLoad& load, int64_t vocabulary) {
  std::vector<std::vector<int64_t>> prompts(static_cast<size_t>(load.texts));
  for (int64_t text = 0; text < load.texts; ++text)
    for (int64_t place = 0; place < load.prompt_tokens; ++place)
      prompts[static_cast<size_t>(text)].push_back((text + 7 * place) % vocabulary);
  return prompts;
}

void check_load(const GenerationLoad& load, int64_t context) {
  const auto read = load.prompt_tokens + load.new_tokens - 1;
  if (read <= context) return;
  throw std::runtime_error(
      fmt::format("{} tokens of a prompt and {} new ones make the model read {}, but its context is {}; give fewer by "
                  "--prompt-tokens and --new-tokens",
                  load.prompt_tokens, load.new_tokens, read, context));
}

/// "; without them 271.3 MB, 48.7 GB/s" where a step reads copies.
std::string without_copies(const GenerationBench& bench) {
  if (bench.model_bytes == bench.bytes_per_step) return "";
  return fmt::format("; without them {:.1f} MB, {:.1f} GB/s", bench.model_bytes / 1e6,
                     bench.model_bytes / bench.median_step_s() / 1e9);
}

}  // namespace

double GenerationBench::median_step_s() const {
  auto sorted = steps_s;
  std::sort(sorted.begin(), sorted.end());
  return sorted.at(sorted.size() / 2);
}

GenerationBench bench_generation(const RunConfig& choice, const GenerationLoad& load) {
  const auto config = resolved(choice);
  check_load(load, config.model.context);
  at::set_num_threads(static_cast<int>(thread_count(config.train.threads)));
  const KernelScope kernels(config.train.kernels);
  GenerationBench result{.prompts = made_up_prompts(load, config.model.vocabulary),
                         .kernels = describe(config.train.kernels),
                         .machine = machine(),
                         .precision = std::string(name_of(config.train.precision)),
                         .threads = at::get_num_threads(),
                         .load = load_average()};
  Session session(config);
  if (config.train.precision == Precision::kBfloat16) session.model()->to(at::kBFloat16);

  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  const auto start = Clock::now();
  auto last = start;
  int64_t tokens = 0;
  const GenerateOptions options{.tokens = load.new_tokens, .sampling = {.temperature = 0}};
  const auto done = generate(*session.model(), result.prompts, options, [&](size_t, int64_t) {
    if (tokens++ % load.texts != 0) return true;  // one time for each step
    const auto now = Clock::now();
    if (tokens == 1) {
      result.prompt_s = seconds(now - start);
    } else {
      result.steps_s.push_back(seconds(now - last));
    }
    last = now;
    return true;
  });
  for (const auto& text : done) result.ids.push_back(text.ids);

  const auto step = account_of(config.model, {.batch = load.texts,
                                              .context = load.prompt_tokens + load.new_tokens / 2,
                                              .precision = config.train.precision})
                        .decode;
  const StepCopies copies(*session.model(), options, load.texts);
  result.model_bytes = step.bytes;
  result.bytes_per_step = step.bytes - static_cast<double>(copies.saved_bytes());
  result.copies = copies.words();
  result.flops_per_step = step.flops;
  const auto limits = measure_limits(config.train.precision);
  result.product_flops_per_s = limits.product_flops_per_s;
  result.bytes_per_s = limits.bytes_read_per_s;
  return result;
}

std::string to_json(const GenerationBench& bench) {
  using Json = nlohmann::ordered_json;
  const Json json = {{"prompt_s", bench.prompt_s},
                     {"steps_s", bench.steps_s},
                     {"median_step_s", bench.median_step_s()},
                     {"prompts", bench.prompts},
                     {"ids", bench.ids},
                     {"bytes_per_step", bench.bytes_per_step},
                     {"model_bytes", bench.model_bytes},
                     {"flops_per_step", bench.flops_per_step},
                     {"product_flops_per_s", bench.product_flops_per_s},
                     {"bytes_per_s", bench.bytes_per_s},
                     {"copies", bench.copies},
                     {"kernels", bench.kernels},
                     {"precision", bench.precision},
                     {"machine", bench.machine},
                     {"threads", bench.threads},
                     {"load", bench.load}};
  return json.dump(2) + "\n";
}

std::string to_text(const GenerationBench& bench) {
  const double step_s = bench.median_step_s();
  const auto [least, most] = std::minmax_element(bench.steps_s.begin(), bench.steps_s.end());
  const auto texts = static_cast<double>(bench.ids.size());
  const double read = bench.bytes_per_step / step_s, done = bench.flops_per_step / step_s;
  return fmt::format(
      "{}\n{} threads, load {:.1f}, kernels {}, {}\n\n"
      "{} texts: prompts of {} tokens in {:.1f} ms; then a token of each in {:.3f} ms (median of {}; {:.3f} to "
      "{:.3f}), "
      "{:.0f} tokens/s\n"
      "{:.1f} MB of weights, keys and values a step, {:.1f} GB/s: {:.0f} % of the {:.1f} GB/s at which memory is read\n"
      "copies of weights that a step reads instead: {}{}\n"
      "{:.1f} MFLOPs a step, {:.1f} GFLOP/s: {:.0f} % of a large product's {:.0f} GFLOP/s\n",
      bench.machine, bench.threads, bench.load, bench.kernels, bench.precision, bench.ids.size(),
      bench.prompts.front().size(), bench.prompt_s * 1e3, step_s * 1e3, bench.steps_s.size(), *least * 1e3, *most * 1e3,
      texts / step_s, bench.bytes_per_step / 1e6, read / 1e9, 100 * read / bench.bytes_per_s, bench.bytes_per_s / 1e9,
      bench.copies, without_copies(bench), bench.flops_per_step / 1e6, done / 1e9,
      100 * done / bench.product_flops_per_s, bench.product_flops_per_s / 1e9);
}

}  // namespace blockzoo
