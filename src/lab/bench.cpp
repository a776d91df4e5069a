#include "blockzoo/lab/bench.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "blockzoo/hub/safetensors.h"
#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/flops.h"
#include "blockzoo/train/run.h"
#include "blockzoo/train/session.h"
#include "lab/limits.h"
#include "lab/operator_times.h"
#include "train/machine.h"

namespace blockzoo {
namespace {

/// FLOPs of one update: those of linear maps, and those of scores and values.
std::map<std::string, double> flops_by_kind(const RunConfig& config) {
  const auto forward = forward_flops(config.model, config.model.context);
  const double attention = forward.scores + forward.values;
  const auto times = 3 * static_cast<double>(config.train.batch);
  return {{"matrix products", times * (forward.total() - attention)}, {"attention", times * attention}};
}

std::vector<OperatorKind> kinds_of(const std::map<std::string, OperatorTime>& times,
                                   const std::map<std::string, double>& flops, double steps) {
  std::map<std::string, OperatorKind> kinds;
  for (const auto& [name, time] : times) {
    const auto kind_name = kind_of_operator(name);
    auto& kind = kinds[kind_name];
    kind.name = kind_name;
    kind.seconds += time.seconds / steps;
    kind.calls += static_cast<double>(time.calls) / steps;
  }
  for (const auto& [name, count] : flops) kinds[name].flops = count;
  std::vector<OperatorKind> sorted;
  for (auto& [name, kind] : kinds) sorted.push_back(std::move(kind));
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return sorted;
}

}  // namespace

double Bench::median_step_s() const {
  auto sorted = steps_s;
  std::sort(sorted.begin(), sorted.end());
  const auto middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Bench bench(const RunConfig& choice, int64_t steps) {
  const auto config = resolved(choice);
  at::set_num_threads(static_cast<int>(thread_count(config.train.threads)));
  Bench result{.tokens_per_step = config.train.batch * config.model.context,
               .flops_per_step = training_flops(config.model, config.train.batch),
               .kernels = describe(config.train.kernels),
               .machine = machine(),
               .threads = at::get_num_threads(),
               .load = load_average()};
  Session session(config);
  for (int64_t step = 0; step < steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    result.losses.push_back(session.advance().loss);
    result.steps_s.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const auto times = operator_times([&] {
    for (int64_t step = 0; step < steps; ++step) session.advance();
  });
  result.kinds = kinds_of(times, flops_by_kind(config), static_cast<double>(steps));
  const auto limits = measure_limits(config.train.precision);
  result.product_flops_per_s = limits.product_flops_per_s;
  result.bytes_per_s = limits.bytes_per_s;
  return result;
}

void first_update(const RunConfig& choice) {
  at::set_num_threads(static_cast<int>(thread_count(choice.train.threads)));
  Session(resolved(choice)).advance();
}

std::string to_json(const Bench& bench) {
  using Json = nlohmann::ordered_json;
  Json json = {{"losses", bench.losses},
               {"steps_s", bench.steps_s},
               {"median_step_s", bench.median_step_s()},
               {"tokens_per_step", bench.tokens_per_step},
               {"flops_per_step", bench.flops_per_step},
               {"flops_convention", kTrainingFlopsConvention},
               {"kinds", Json::array()},
               {"product_flops_per_s", bench.product_flops_per_s},
               {"bytes_per_s", bench.bytes_per_s},
               {"kernels", bench.kernels},
               {"machine", bench.machine},
               {"threads", bench.threads},
               {"load", bench.load}};
  for (const auto& kind : bench.kinds)
    json["kinds"].push_back(
        {{"name", kind.name}, {"seconds", kind.seconds}, {"calls", kind.calls}, {"flops", kind.flops}});
  return json.dump(2) + "\n";
}

std::string to_text(const Bench& bench) {
  const double step_s = bench.median_step_s();
  const auto [least, most] = std::minmax_element(bench.steps_s.begin(), bench.steps_s.end());
  const double reached = bench.flops_per_step / step_s;
  auto text = fmt::format(
      "{}\n{} threads, load {:.1f}, kernels {}\n\n"
      "one update: {:.1f} ms (median of {}; {:.1f} to {:.1f}), {:.0f} tokens/s\n"
      "{:.4g} FLOPs an update, {:.0f} GFLOP/s: {:.0f} % of a large product's {:.0f} GFLOP/s; memory {:.1f} GB/s\n\n"
      "{:24} {:>9} {:>8} {:>8} {:>9}\n",
      bench.machine, bench.threads, bench.load, bench.kernels, step_s * 1e3, bench.steps_s.size(), *least * 1e3,
      *most * 1e3, static_cast<double>(bench.tokens_per_step) / step_s, bench.flops_per_step, reached / 1e9,
      100 * reached / bench.product_flops_per_s, bench.product_flops_per_s / 1e9, bench.bytes_per_s / 1e9, "operators",
      "ms", "% time", "% FLOPs", "calls");
  double all_s = 0;
  for (const auto& kind : bench.kinds) all_s += kind.seconds;
  for (const auto& kind : bench.kinds)
    text += fmt::format("{:24} {:>9.2f} {:>8.1f} {:>8.1f} {:>9.0f}\n", kind.name, kind.seconds * 1e3,
                        100 * kind.seconds / all_s, 100 * kind.flops / bench.flops_per_step, kind.calls);
  return text + "FLOPs: " + std::string(kTrainingFlopsConvention) + "\n";
}

void write_bench_inputs(const RunConfig& choice, int64_t steps, const std::filesystem::path& file) {
  const auto config = resolved(choice);
  Session session(config);
  const Batches batches(session.corpus().train, {.windows = config.train.batch, .context = config.model.context},
                        static_cast<uint64_t>(config.data.seed));
  std::vector<Tensor> inputs, targets;
  for (int64_t step = 0; step < steps; ++step) {
    const auto batch = batches.batch(step);
    inputs.push_back(batch.inputs);
    targets.push_back(batch.targets);
  }
  NamedTensors tensors{{"batches.inputs", at::stack(inputs)}, {"batches.targets", at::stack(targets)}};
  for (const auto& [name, tensor] : weights_of(*session.model())) tensors.emplace_back(name, tensor);
  save_safetensors(file, tensors);
}

}  // namespace blockzoo
