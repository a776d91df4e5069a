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
#include "lab/allocations.h"
#include "lab/limits.h"
#include "lab/operator_times.h"
#include "lab/update_flops.h"
#include "train/machine.h"

namespace blockzoo {
namespace {

/// Operations go where the time goes: a kind that no operator of this run is of leaves them to `instead`.
void fold(std::map<std::string, OperatorKind>& kinds, std::map<std::string, KindFlops>& flops, const std::string& kind,
          const std::string& instead) {
  if (kinds.count(kind) == 1) return;
  flops[instead].products += flops[kind].products;
  flops[instead].others += flops[kind].others;
  flops.erase(kind);
}

std::vector<OperatorKind> kinds_of(const std::map<std::string, OperatorTime>& times,
                                   std::map<std::string, KindFlops> flops, double steps) {
  std::map<std::string, OperatorKind> kinds;
  for (const auto& [name, time] : times) {
    const auto kind_name = kind_of_operator(name);
    auto& kind = kinds[kind_name];
    kind.name = kind_name;
    kind.seconds += time.seconds / steps;
    kind.calls += static_cast<double>(time.calls) / steps;
    kind.allocated_bytes += time.allocated_bytes / steps;
  }
  fold(kinds, flops, "softmax", "attention");
  fold(kinds, flops, "attention", "matrix products");
  for (const auto& [name, count] : flops) {
    auto& kind = kinds[name];
    kind.name = name;
    kind.flops = count.products;
    kind.other_flops = count.others;
  }
  std::vector<OperatorKind> sorted;
  for (auto& [name, kind] : kinds) {
    if (kind.seconds > 0 || kind.all_flops() > 0) sorted.push_back(std::move(kind));
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return sorted;
}

std::vector<OperatorClass> classes_of(const std::vector<OperatorKind>& kinds,
                                      const std::map<std::string, KindFlops>& flops) {
  std::vector<OperatorClass> classes;
  for (const std::string name : {"contractions", "normalisation", "element-wise", "other"}) {
    OperatorClass of_name{.name = name};
    for (const auto& kind : kinds) of_name.seconds += class_of_kind(kind.name) == name ? kind.seconds : 0;
    for (const auto& [kind, count] : flops) of_name.flops += class_of_kind(kind) == name ? count.total() : 0;
    classes.push_back(std::move(of_name));
  }
  return classes;
}

constexpr double kMebibyte = 1 << 20;

/// A share in percent with enough digits to see 0.17 %, and nothing for nothing.
std::string share_text(double part, double whole) { return part > 0 ? fmt::format("{:.3f}", 100 * part / whole) : "-"; }

/// Time, operations and memory of updates by what operators are for, and the most memory at a time. The updates are
/// those of a session of their own, since all that it holds must have been heard when it was taken.
void record_operators(const RunConfig& config, int64_t steps, Bench& result) {
  const AllocationScope allocations;
  Session session(config);
  for (int i = 0; i < 3; ++i) session.advance();  // until memory is laid out: the system clears what is new
  allocations->forget_peak();
  const auto times = operator_times(*allocations, [&] {
    for (int64_t step = 0; step < steps; ++step) session.advance();
  });
  result.peak_bytes = allocations->peak();
  const auto flops = update_flops(config);
  result.kinds = kinds_of(times, flops, static_cast<double>(steps));
  result.classes = classes_of(result.kinds, flops);
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
  record_operators(config, steps, result);
  Session session(config);
  for (int64_t step = 0; step < steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    result.losses.push_back(session.advance().loss);
    result.steps_s.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
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
               {"other_flops_convention", kOtherFlopsConvention},
               {"peak_bytes", bench.peak_bytes},
               {"kinds", Json::array()},
               {"classes", Json::array()},
               {"product_flops_per_s", bench.product_flops_per_s},
               {"bytes_per_s", bench.bytes_per_s},
               {"kernels", bench.kernels},
               {"machine", bench.machine},
               {"threads", bench.threads},
               {"load", bench.load}};
  for (const auto& kind : bench.kinds)
    json["kinds"].push_back({{"name", kind.name},
                             {"seconds", kind.seconds},
                             {"calls", kind.calls},
                             {"allocated_bytes", kind.allocated_bytes},
                             {"flops", kind.flops},
                             {"other_flops", kind.other_flops}});
  for (const auto& of_name : bench.classes)
    json["classes"].push_back({{"name", of_name.name}, {"seconds", of_name.seconds}, {"flops", of_name.flops}});
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
      "tensors take {:.1f} MiB at most\n\n"
      "{:24} {:>9} {:>8} {:>9} {:>8} {:>9}\n",
      bench.machine, bench.threads, bench.load, bench.kernels, step_s * 1e3, bench.steps_s.size(), *least * 1e3,
      *most * 1e3, static_cast<double>(bench.tokens_per_step) / step_s, bench.flops_per_step, reached / 1e9,
      100 * reached / bench.product_flops_per_s, bench.product_flops_per_s / 1e9, bench.bytes_per_s / 1e9,
      bench.peak_bytes / kMebibyte, "operators", "ms", "% time", "% FLOPs", "calls", "new MiB");
  double all_s = 0, all_flops = 0;
  for (const auto& kind : bench.kinds) {
    all_s += kind.seconds;
    all_flops += kind.all_flops();
  }
  for (const auto& kind : bench.kinds)
    text += fmt::format("{:24} {:>9.2f} {:>8.1f} {:>9} {:>8.0f} {:>9.1f}\n", kind.name, kind.seconds * 1e3,
                        100 * kind.seconds / all_s, share_text(kind.all_flops(), all_flops), kind.calls,
                        kind.allocated_bytes / kMebibyte);
  text += fmt::format("\n{:24} {:>9} {:>8} {:>9}\n", "classes", "ms", "% time", "% FLOPs");
  for (const auto& of_name : bench.classes)
    text += fmt::format("{:24} {:>9.2f} {:>8.1f} {:>9}\n", of_name.name, of_name.seconds * 1e3,
                        100 * of_name.seconds / all_s, share_text(of_name.flops, all_flops));
  return text + "matrix products: " + std::string(kTrainingFlopsConvention) +
         "\nall else: " + std::string(kOtherFlopsConvention) +
         "\nclasses as in arXiv:2007.00072; attention's time has what it does to scores in it, which is a "
         "normalisation\n";
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
