#include <spdlog/fmt/fmt.h>

#include <cctype>

#include "blockzoo/core/names.h"
#include "lab/factorial.h"
#include "lab/table_text.h"
#include "lab/verdict_words.h"

namespace blockzoo {
namespace {

std::string kind_of(const FactorialEffect& effect) { return effect.of.size() == 1 ? "main effect" : "interaction"; }

std::string capital(std::string text) {
  text.front() = static_cast<char>(std::toupper(text.front()));
  return text;
}

/// What the verdict means for a main effect, and for what several levels do beyond their own effects.
std::string meaning(const FactorialEffect& effect) {
  const bool alone = effect.of.size() == 1;
  switch (effect.verdict) {
    case Verdict::kBetter:
      return alone ? "better" : "together better than their own effects add up to";
    case Verdict::kWorse:
      return alone ? "worse" : "together worse than their own effects add up to";
    case Verdict::kNoDifferenceShown:
      return alone ? "no difference shown" : "no interaction shown";
    case Verdict::kDiverged:
    case Verdict::kNotComparable:
      break;
  }
  return std::string(name_of(effect.verdict));
}

}  // namespace

std::string name_of_effect(const FactorialEffect& effect) {
  std::string text;
  for (const auto& [factor, level] : effect.of) text += (text.empty() ? "" : " with ") + factor + " " + level;
  return text;
}

std::string in_words(const FactorialEffect& effect) {
  const auto figures = effect.difference ? in_words(*effect.difference, effect.adjusted_p, effect.measure) + ", " : "";
  return fmt::format("{} of {}: {}{}{}.", capital(kind_of(effect)), name_of_effect(effect), figures, meaning(effect),
                     effect.reason.empty() ? "" : "; " + effect.reason);
}

std::string factorial_markdown(const std::vector<FactorialEffect>& effects) {
  if (effects.empty()) return "";
  auto text = fmt::format(
      "\n## Effects of the factors\n\nLosses in {}, paired by seed, every arm at its best point: below zero is "
      "better. "
      "Main effect: loss at this level - loss at the\nfirst, the mean over the other factors' levels. Interaction: "
      "what "
      "levels do together beyond their own effects, not halved. p: Holm's\ncorrection over all rows.\n\n",
      name_of(effects.front().measure));
  const std::vector<std::string> head = {"effect",       "of",          "difference", "95 % over seeds",
                                         "over windows", "p corrected", "verdict"};
  text += markdown_row(head) + markdown_row(std::vector<std::string>(head.size(), "---"));
  for (const auto& one : effects) {
    const auto& found = one.difference;
    text += markdown_row({kind_of(one), name_of_effect(one), found ? fmt::format("{:+.4f}", found->mean) : "-",
                          shown(found ? std::optional(found->interval) : std::nullopt), shown(one.over_windows),
                          found ? fmt::format("{:.3g}", one.adjusted_p) : "-",
                          one.reason.empty() ? meaning(one) : meaning(one) + ": " + one.reason});
  }
  return text;
}

std::string factorial_csv(const std::vector<FactorialEffect>& effects) {
  auto text = csv_row({"effect", "of", "seeds",
                       effects.empty() ? std::string("difference_nats") : difference_column(effects.front().measure),
                       "difference_sd", "seeds_low", "seeds_high", "windows_low", "windows_high", "p", "p_corrected",
                       "verdict", "reason"});
  for (const auto& one : effects) {
    const auto& found = one.difference;
    const auto if_found = [&](double value) { return found ? exact(value) : std::string(); };
    const auto difference = found.value_or(PairedDifference{});
    const auto windows = one.over_windows.value_or(Interval{});
    text += csv_row({kind_of(one), name_of_effect(one), found ? std::to_string(difference.pairs) : "",
                     if_found(difference.mean), if_found(difference.deviation), if_found(difference.interval.low),
                     if_found(difference.interval.high), one.over_windows ? exact(windows.low) : "",
                     one.over_windows ? exact(windows.high) : "", if_found(difference.p), if_found(one.adjusted_p),
                     meaning(one), one.reason});
  }
  return text;
}

}  // namespace blockzoo
