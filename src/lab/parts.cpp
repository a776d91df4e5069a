#include "lab/parts.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "blockzoo/core/names.h"
#include "lab/sweep.h"
#include "lab/table_text.h"
#include "lab/verdict_words.h"

namespace blockzoo {
namespace {

using PartLoss = std::optional<double> EvalResult::*;

constexpr std::array<std::pair<const char*, PartLoss>, 2> kParts = {
    {{"repeated names", &EvalResult::repeated_names}, {"elsewhere", &EvalResult::elsewhere}}};

/// Bits per byte of each seed; empty unless every seed has a finite one.
std::vector<double> part_losses(const StudyPoint& point, PartLoss part) {
  std::vector<double> losses;
  for (const auto* record : point.records) {
    const auto bits = record->validation->bits_per_byte_of((*record->validation).*part);
    if (!bits || !std::isfinite(*bits)) return {};
    losses.push_back(*bits);
  }
  return losses;
}

std::string where(const PartComparison& one) { return one.part == "elsewhere" ? "Elsewhere" : "On " + one.part; }

std::string at(const std::vector<SweepValue>& sweep) { return sweep.empty() ? "" : " at " + in_words(sweep); }

std::string mean_and_deviation(const Spread& spread) {
  return spread.deviation ? fmt::format("{:.4f} +- {:.4f}", spread.mean, *spread.deviation)
                          : fmt::format("{:.4f}", spread.mean);
}

}  // namespace

std::vector<PartComparison> compared_by_part(const StudyPoint& arm, const StudyPoint& base) {
  std::vector<PartComparison> parts;
  for (const auto& [name, loss] : kParts) {
    const auto ours = part_losses(arm, loss), theirs = part_losses(base, loss);
    if (ours.empty() || ours.size() != theirs.size()) continue;
    parts.push_back({.part = name,
                     .arm = arm.arm,
                     .sweep = arm.sweep,
                     .base_sweep = base.sweep,
                     .base_loss = spread_of(theirs),
                     .loss = spread_of(ours),
                     .difference = paired_difference(ours, theirs)});
  }
  return parts;
}

std::string in_words(const PartComparison& one, const std::string& base) {
  const auto arm = one.arm + at(one.sweep), against = base + at(one.base_sweep);
  const auto figures = one.difference ? in_words(*one.difference, one.adjusted_p, Measure::kBitsPerByte)
                                      : "one seed cannot tell a difference from noise";
  if (one.verdict == Verdict::kNoDifferenceShown)
    return fmt::format("{} {} against {}: no difference shown, {}.", where(one), arm, against, figures);
  return fmt::format("{} {} is {} than {}: {}.", where(one), arm, name_of(one.verdict), against, figures);
}

std::string parts_markdown(const Judgement& judgement) {
  if (judgement.by_part.empty()) return "";
  auto text = fmt::format(
      "\n## On repeated names and elsewhere\n\nBits per byte, each at its best point, against {}, paired by seed: "
      "below zero is better. Repeated names were said before in the\nwindow and can only be copied from there. p: "
      "Holm's "
      "correction over the rows.\n\n",
      judgement.base);
  const std::vector<std::string> head = {
      "part", "arm", judgement.base, "arm's loss", "difference", "95 % over seeds", "p corrected", "verdict"};
  text += markdown_row(head) + markdown_row(std::vector<std::string>(head.size(), "---"));
  for (const auto& one : judgement.by_part) {
    const auto& found = one.difference;
    text += markdown_row({one.part, one.arm + at(one.sweep), mean_and_deviation(one.base_loss),
                          mean_and_deviation(one.loss), found ? fmt::format("{:+.4f}", found->mean) : "-",
                          shown(found ? std::optional(found->interval) : std::nullopt),
                          found ? fmt::format("{:.3g}", one.adjusted_p) : "-", std::string(name_of(one.verdict))});
  }
  return text;
}

std::string parts_csv(const Judgement& judgement) {
  auto text =
      csv_row({"part", "arm", "at", "base_at", "seeds", "base_bits_per_byte", "bits_per_byte",
               "difference_bits_per_byte", "difference_sd", "seeds_low", "seeds_high", "p", "p_corrected", "verdict"});
  for (const auto& one : judgement.by_part) {
    const auto found = one.difference.value_or(PairedDifference{});
    const auto if_found = [&](double value) { return one.difference ? exact(value) : std::string(); };
    text += csv_row({one.part, one.arm, in_words(one.sweep), in_words(one.base_sweep), std::to_string(one.loss.count),
                     exact(one.base_loss.mean), exact(one.loss.mean), if_found(found.mean), if_found(found.deviation),
                     if_found(found.interval.low), if_found(found.interval.high), if_found(found.p),
                     if_found(one.adjusted_p), std::string(name_of(one.verdict))});
  }
  return text;
}

}  // namespace blockzoo
