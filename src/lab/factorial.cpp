#include "lab/factorial.h"

#include <algorithm>
#include <functional>

#include "lab/contrast.h"
#include "lab/design.h"

namespace blockzoo {
namespace {

/// A level of each factor, by index.
using Cell = std::vector<size_t>;

std::vector<Cell> all_cells(const std::vector<Factor>& factors) {
  std::vector<Cell> cells{{}};
  for (const auto& factor : factors) {
    std::vector<Cell> longer;
    for (const auto& cell : cells) {
      for (size_t level = 0; level < factor.levels.size(); ++level) {
        longer.push_back(cell);
        longer.back().push_back(level);
      }
    }
    cells = std::move(longer);
  }
  return cells;
}

std::string name_of_cell(const std::vector<Factor>& factors, const Cell& cell) {
  std::vector<std::string> levels;
  for (size_t f = 0; f < factors.size(); ++f) levels.push_back(factors[f].levels[cell[f]]);
  return factorial_arm(levels);
}

/// The effect of the levels that `studied` has above 0, the mean over all levels of the factors where it has 0.
std::vector<Term> terms_of(const std::vector<Factor>& factors, const std::map<std::string, const StudyPoint*>& cells,
                           const Cell& studied) {
  std::vector<Term> terms;
  double averaged = 1;
  for (size_t f = 0; f < factors.size(); ++f) averaged *= studied[f] == 0 ? double(factors[f].levels.size()) : 1;
  for (const auto& cell : all_cells(factors)) {
    double weight = 1 / averaged;
    for (size_t f = 0; f < factors.size(); ++f) {
      if (studied[f] == 0 || cell[f] == studied[f]) continue;
      weight = cell[f] == 0 ? -weight : 0;
      if (weight == 0) break;
    }
    if (weight != 0) terms.push_back({cells.at(name_of_cell(factors, cell)), weight});
  }
  return terms;
}

std::string why_not_comparable(const std::vector<Term>& terms) {
  for (const auto& term : terms) {
    if (!term.point->complete()) return "of " + term.point->arm + ", " + term.point->what_is_missing();
  }
  for (const auto& term : terms) {
    if (const auto why = why_unlike(*term.point, *terms.front().point); !why.empty())
      return term.point->arm + " and " + terms.front().point->arm + " cannot be compared: " + why;
  }
  return "";
}

FactorialEffect effect_of(const std::vector<Factor>& factors, const std::vector<Term>& terms, const Cell& studied) {
  FactorialEffect effect{.measure = terms.front().point->measure};
  for (size_t f = 0; f < factors.size(); ++f) {
    if (studied[f] > 0) effect.of.push_back({factors[f].name, factors[f].levels[studied[f]]});
  }
  effect.reason = why_not_comparable(terms);
  if (!effect.reason.empty()) return effect;
  effect.verdict = Verdict::kNoDifferenceShown;
  const auto found = contrast(terms);
  effect.difference = found.over_seeds;
  effect.over_windows = found.over_windows;
  if (!effect.difference) effect.reason = "one seed cannot tell a difference from noise";
  return effect;
}

}  // namespace

std::vector<FactorialEffect> factorial_effects(const std::vector<Factor>& factors,
                                               const std::map<std::string, const StudyPoint*>& cells) {
  const auto all = all_cells(factors);
  const bool planned = std::all_of(all.begin(), all.end(),
                                   [&](const Cell& cell) { return cells.count(name_of_cell(factors, cell)) > 0; });
  std::vector<FactorialEffect> effects;
  if (!planned) return effects;
  for (const auto& studied : all) {
    if (std::all_of(studied.begin(), studied.end(), [](size_t level) { return level == 0; })) continue;
    effects.push_back(effect_of(factors, terms_of(factors, cells, studied), studied));
  }
  std::stable_sort(effects.begin(), effects.end(),
                   [](const auto& a, const auto& b) { return a.of.size() < b.of.size(); });
  correct_for_being_several(effects);
  return effects;
}

}  // namespace blockzoo
