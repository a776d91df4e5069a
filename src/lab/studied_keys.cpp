#include "blockzoo/lab/studied_keys.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "lab/points.h"

namespace blockzoo {
namespace {

constexpr std::array<std::string_view, 7> kNothingLearned = {"train.log_every",  "train.eval_every", "train.save_every",
                                                             "train.keep",       "train.threads",    "train.sample",
                                                             "train.probe_every"};

/// Whether `path` is `key` or stands below it.
bool is_within(std::string_view path, std::string_view key) {
  return path.starts_with(key) && (path.size() == key.size() || path[key.size()] == '.');
}

/// Whether the study varies the key on purpose, or it teaches nothing.
bool is_set_apart(const std::string& path, const PlannedRun& run, const Study& study) {
  const auto swept = [&](const SweepValue& value) { return is_within(path, value.path); };
  return std::any_of(run.sweep.begin(), run.sweep.end(), swept) || (run.match && is_within(path, run.match->key)) ||
         (study.budget.tokens && path == "train.steps") ||
         std::find(kNothingLearned.begin(), kNothingLearned.end(), path) != kNothingLearned.end();
}

/// The keys of an arm that differ from the base, by what they are of.
struct Changes {
  std::vector<std::string> model, data, training;

  bool mixed() const { return (model.empty() ? 0 : 1) + (data.empty() ? 0 : 1) + (training.empty() ? 0 : 1) > 1; }
};

Changes changes_of(const PlannedRun& run, const Study& study) {
  Changes changes;
  for (const auto& difference : run.differences) {
    const auto& path = difference.path;
    if (is_set_apart(path, run, study)) continue;
    const bool data = is_within(path, "data") || path == "model.vocabulary";
    (data ? changes.data : is_within(path, "model") ? changes.model : changes.training).push_back(path);
  }
  return changes;
}

/// Factors of a factorial study whose level is not the first in this arm.
int64_t factors_changed(const std::string& arm, const std::vector<Factor>& factors) {
  int64_t changed = 0;
  size_t start = 0;
  for (const auto& factor : factors) {
    const auto level = arm.substr(start, arm.find('+', start) - start);
    changed += level != factor.levels.front() ? 1 : 0;
    start += level.size() + 1;
  }
  return changed;
}

std::string sentence(const std::string& arm, const Changes& changes) {
  std::string text;
  for (const auto* keys : {&changes.model, &changes.data, &changes.training}) {
    if (keys->empty()) continue;
    text += (text.empty() ? "" : " and in ") + fmt::format("{}", fmt::join(*keys, ", "));
  }
  return fmt::format("NOT one change: arm {} differs from the base in {} too; what is measured is all of it together",
                     arm, text);
}

/// Paths of what a patch sets.
void leaves(const Tree& tree, const std::string& path, std::vector<std::string>& found) {
  if (!tree.is_map() || tree.entries.empty()) return found.push_back(path);
  for (const auto& [key, value] : tree.entries) leaves(value, path.empty() ? key : path + "." + key, found);
}

}  // namespace

std::vector<std::string> mixed_changes(const Study& study) {
  std::vector<std::string> sentences;
  std::set<std::string> seen;
  bool model_changes = false, combined = false;
  const auto base = base_arm(study);
  for (const auto& run : study.runs) {
    if (run.arm == base || !seen.insert(run.arm).second) continue;
    const auto changes = changes_of(run, study);
    model_changes = model_changes || !changes.model.empty();
    combined = combined || changes.mixed();
    if (changes.mixed() && factors_changed(run.arm, study.factors) <= 1)
      sentences.push_back(sentence(run.arm, changes));
  }
  if (!sentences.empty() || !model_changes) return sentences;
  std::string same = "same data and training settings as the base in every arm that changes the model";
  if (combined) same += ", but for the levels of the factors";
  return {same};
}

void require_named(const RunConfig& base, const RunConfig& arm, const Tree& patch, const std::string& path) {
  std::vector<std::string> named;
  leaves(patch, "", named);
  for (const auto& difference : differences(to_document(base), to_document(arm))) {
    const bool is_named = std::any_of(named.begin(), named.end(), [&](const std::string& one) {
      return is_within(one, difference.path) || is_within(difference.path, one);
    });
    if (!is_named)
      throw std::logic_error(
          fmt::format("{}: {} becomes {}, which the arm does not name", path, difference.path, difference.after));
  }
}

}  // namespace blockzoo
