#include "blockzoo/lab/compare.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "blockzoo/core/tree.h"
#include "blockzoo/lab/run_history.h"
#include "blockzoo/train/progress.h"
#include "blockzoo/train/record.h"

namespace blockzoo {
namespace {

constexpr int kWidth = 60;
constexpr int kRows = 8;  // of losses along the way

struct Run {
  std::string name;
  RunRecord record;
  Tree config;
  LossCurve curve;
};

Run read_run(const std::filesystem::path& folder, std::string name) {
  return {std::move(name), read_record(folder), load_yaml(folder / "config.yaml"), read_history(folder).training};
}

std::pair<double, double> range_of(const Run& a, const Run& b) {
  double low = INFINITY, high = -INFINITY;
  for (const auto* run : {&a, &b}) {
    for (const double loss : run->curve.loss) {
      if (!std::isfinite(loss)) continue;
      low = std::min(low, loss);
      high = std::max(high, loss);
    }
  }
  return {low, high};
}

std::string curves(const Run& a, const Run& b) {
  const auto [low, high] = range_of(a, b);
  if (low > high) return "no losses are logged yet\n";
  auto text = fmt::format("training loss by step, {:.4f} to {:.4f} nats per token\n", low, high);
  for (const auto* run : {&a, &b})
    text += fmt::format("  {}  {}\n", run->name, sparkline(run->curve.loss, low, high, kWidth));
  return text;
}

/// Training losses at steps that both have logged, spread over the run.
std::string losses_along(const Run& a, const Run& b) {
  std::map<int64_t, double> of_b;
  for (size_t i = 0; i < b.curve.steps.size(); ++i) of_b[b.curve.steps[i]] = b.curve.loss[i];
  std::vector<std::array<double, 3>> shared;
  for (size_t i = 0; i < a.curve.steps.size(); ++i) {
    if (const auto found = of_b.find(a.curve.steps[i]); found != of_b.end())
      shared.push_back({static_cast<double>(a.curve.steps[i]), a.curve.loss[i], found->second});
  }
  if (shared.empty()) return "";
  auto text = fmt::format("\n{:>10}{:>12}{:>12}{:>12}\n", "step", a.name, b.name, b.name + " - " + a.name);
  const auto rows = std::min<size_t>(kRows, shared.size());
  for (size_t row = 0; row < rows; ++row) {
    const auto& [step, first, second] = shared[rows == 1 ? shared.size() - 1 : row * (shared.size() - 1) / (rows - 1)];
    text += fmt::format("{:>10.0f}{:>12.4f}{:>12.4f}{:>+12.4f}\n", step, first, second, second - first);
  }
  return text;
}

std::string end_of(const Run& run) {
  const auto& record = run.record;
  auto text = fmt::format("  {}  {} at step {} of {}, {} tokens, {} parameters, {:.0f} tokens/s\n", run.name,
                          name_of(record.status), record.step, record.steps, record.tokens, record.parameters,
                          record.tokens_per_s());
  if (record.validation) text += fmt::format("     validation: {}\n", describe(*record.validation));
  return text;
}

/// Of the parts that both have, in bits per byte.
std::string part_differences(const EvalResult& a, const EvalResult& b) {
  std::string text;
  const auto add = [&](const char* words, std::optional<double> EvalResult::*part) {
    const auto first = a.bits_per_byte_of(a.*part), second = b.bits_per_byte_of(b.*part);
    if (first && second) text += fmt::format("  B - A  {:+.4f} bits per byte {}\n", *second - *first, words);
  };
  add("on repeated names", &EvalResult::repeated_names);
  add("elsewhere", &EvalResult::elsewhere);
  return text;
}

std::string config_differences(const Run& a, const Run& b) {
  const auto found = differences(a.config, b.config);
  if (found.empty()) return "\nthe configs are the same\n";
  auto text = fmt::format("\nwhat differs, {} and {}\n", a.name, b.name);
  for (const auto& [path, before, after] : found)
    text +=
        fmt::format("  {}: {} and {}\n", path, before.empty() ? "absent" : before, after.empty() ? "absent" : after);
  return text;
}

std::string same_line(bool same, const std::string& what) {
  return fmt::format("  {} {}\n", same ? "same" : "NOT the same", what);
}

}  // namespace

std::string sparkline(std::span<const double> values, double low, double high, int width) {
  static constexpr std::array<const char*, 8> bars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  const auto columns = std::min<size_t>(static_cast<size_t>(width), values.size());
  for (size_t column = 0; column < columns; ++column) {
    double sum = 0;
    int count = 0;
    for (size_t i = column * values.size() / columns; i < (column + 1) * values.size() / columns; ++i) {
      if (!std::isfinite(values[i])) continue;
      sum += values[i];
      ++count;
    }
    if (count == 0) {
      text += ' ';
      continue;
    }
    const double height = high > low ? (sum / count - low) / (high - low) : 0;
    text += bars[static_cast<size_t>(std::clamp(height * 8, 0.0, 7.0))];
  }
  return text;
}

std::string compare_runs(const std::filesystem::path& first, const std::filesystem::path& second) {
  const auto a = read_run(first, "A"), b = read_run(second, "B");
  auto text = fmt::format("A is {}\nB is {}\n\n", first.string(), second.string());
  text += curves(a, b) + losses_along(a, b) + "\n" + end_of(a) + end_of(b);
  const bool one_tokenizer = a.record.tokenizer == b.record.tokenizer;
  if (!one_tokenizer)
    text += "  B - A  nats per token do not compare, since the tokenizers differ; see bits per byte\n";
  if (one_tokenizer && a.record.validation && b.record.validation)
    text += fmt::format("  B - A  {:+.4f} nats per token; two runs cannot tell a difference from noise\n",
                        b.record.validation->loss - a.record.validation->loss);
  if (a.record.validation && b.record.validation) text += part_differences(*a.record.validation, *b.record.validation);
  text += "\n" + same_line(a.record.data_hash == b.record.data_hash, "data (by hash)") +
          same_line(a.record.validation_hash == b.record.validation_hash, "validation windows (by hash)") +
          same_line(a.record.batches_hash == b.record.batches_hash, "batches in the same order (by hash)");
  return text + config_differences(a, b);
}

}  // namespace blockzoo
