#include <spdlog/fmt/fmt.h>

#include "blockzoo/core/names.h"
#include "lab/sweep.h"
#include "lab/table_text.h"
#include "lab/verdict_words.h"

namespace blockzoo {
namespace {

std::string settings(const std::vector<SweepValue>& sweep) { return sweep.empty() ? "-" : in_words(sweep); }

std::vector<std::string> cells(const Comparison& one) {
  const auto& difference = one.difference;
  return {one.arm,
          settings(one.sweep),
          settings(one.base_sweep),
          difference ? fmt::format("{:+.4f}", difference->mean) : "-",
          shown(difference ? std::optional(difference->interval) : std::nullopt),
          shown(one.over_windows),
          difference ? fmt::format("{:.3g}", one.adjusted_p) : "-",
          std::string(name_of(one.verdict))};
}

std::string table(const std::vector<Comparison>& comparisons) {
  const std::vector<std::string> head = {"arm",          "at",          "base at", "difference", "95 % over seeds",
                                         "over windows", "p corrected", "verdict"};
  auto text = markdown_row(head) + markdown_row(std::vector<std::string>(head.size(), "---"));
  for (const auto& one : comparisons) text += markdown_row(cells(one));
  return text;
}

std::string csv_line(const char* which, const Comparison& one) {
  const auto& difference = one.difference;
  const auto number = [](const auto& holder, auto field) { return holder ? exact((*holder).*field) : std::string(); };
  return csv_row({which, one.arm, settings(one.sweep), settings(one.base_sweep),
                  difference ? std::to_string(difference->pairs) : "", number(difference, &PairedDifference::mean),
                  number(difference, &PairedDifference::deviation), difference ? exact(difference->interval.low) : "",
                  difference ? exact(difference->interval.high) : "", number(one.over_windows, &Interval::low),
                  number(one.over_windows, &Interval::high), number(difference, &PairedDifference::p),
                  difference ? exact(one.adjusted_p) : "", std::string(name_of(one.verdict)), one.reason});
}

}  // namespace

std::string shown(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{:+.4f} to {:+.4f}", interval->low, interval->high) : "-";
}

std::string comparisons_markdown(const Judgement& judgement) {
  if (judgement.best_against_best.empty()) return "";
  auto text = fmt::format(
      "\n## Against {}\n\nDifference of validation losses, arm - base, {}, paired by seed: below zero is "
      "better. Interval over seeds: Student's t,\nfor this arm alone. Over windows: bootstrap of the windows, these "
      "seeds given. p: Holm's correction over the rows of a table.\n\n",
      judgement.base, name_of(judgement.measure));
  text += "Each at its best point, by mean validation loss:\n\n" + table(judgement.best_against_best);
  if (!judgement.same_point.empty()) text += "\nBoth at the same point:\n\n" + table(judgement.same_point);
  return text;
}

std::string comparisons_csv(const Judgement& judgement) {
  auto text =
      csv_row({"which", "arm", "at", "base_at", "seeds", difference_column(judgement.measure), "difference_sd",
               "seeds_low", "seeds_high", "windows_low", "windows_high", "p", "p_corrected", "verdict", "reason"});
  for (const auto& one : judgement.best_against_best) text += csv_line("best", one);
  for (const auto& one : judgement.same_point) text += csv_line("same point", one);
  return text;
}

}  // namespace blockzoo
