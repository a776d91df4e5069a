#include "blockzoo/lab/matching.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "blockzoo/nn/flops.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/train/record.h"
#include "core/reader.h"

namespace blockzoo {
namespace {

constexpr int64_t kLargest = int64_t{1} << 40;
constexpr int64_t kReach = 128;  // values looked at on each side of one that does not fit

class Search {
 public:
  Search(const RunAt& run_at, const MatchTarget& target, Match& best)
      : run_at_(run_at), measure_(target.measure), target_(target.target), best_(best) {}

  void run(int64_t start) {
    at(start);
    int64_t below = 0, above = std::max<int64_t>(1, start);
    while (above < kLargest) {
      const auto value = nearest_fitting(above, below, kLargest);
      if (value) above = *value;
      if (!value || *at(*value) >= target_) break;
      below = *value;
      above = 2 * below;
    }
    while (above - below > 1 && best_.reached != target_) {
      const auto middle = below + (above - below) / 2;
      const auto value = nearest_fitting(middle, below, above);
      const bool low = value ? *at(*value) < target_ : middle < start;
      (low ? below : above) = value.value_or(middle);
    }
  }

 private:
  /// The measure at that value, if it fits.
  std::optional<double> at(int64_t value) {
    const auto [entry, fresh] = measured_.try_emplace(value);
    if (!fresh) return entry->second;
    try {
      entry->second = measure_(run_at_(value));
      note(value, *entry->second);
    } catch (const ConfigError&) {  // stays empty
    }
    return entry->second;
  }

  void note(int64_t value, double found) {
    const auto distance = std::abs(found - target_), least = std::abs(best_.reached - target_);
    const bool first = best_.reached == 0;
    best_.key_matters = best_.key_matters || (!first && found != best_.reached);
    if (!first && (distance > least || (distance == least && value >= best_.value))) return;
    best_.value = value;
    best_.reached = found;
  }

  /// A value above `low` and below `high` that fits, the nearest to `middle`.
  std::optional<int64_t> nearest_fitting(int64_t middle, int64_t low, int64_t high) {
    for (int64_t away = 0; away <= kReach; ++away) {
      for (const auto value : {middle + away, middle - away}) {
        if (value > low && value < high && at(value)) return value;
      }
    }
    return std::nullopt;
  }

  const RunAt& run_at_;
  const std::function<double(const RunConfig&)>& measure_;
  const double target_;
  Match& best_;
  std::map<int64_t, std::optional<double>> measured_;
};

std::string amount(double value, MatchBy by) {
  if (by == MatchBy::kWallClock) return fmt::format("{:.3g} s", value);
  return value < 1e9 ? fmt::format("{:.0f}", value) : fmt::format("{:.4e}", value);
}

std::string percent(double residue) { return residue == 0 ? "0 %" : fmt::format("{:+.2f} %", 100 * residue); }

}  // namespace

std::string MatchConfig::key() const {
  const auto path =
      free_key.value_or(by == MatchBy::kTokens || by == MatchBy::kWallClock ? "train.steps" : "ffn.hidden");
  const auto sections = keys_of<RunConfig>();
  const bool whole = std::find(sections.begin(), sections.end(), path.substr(0, path.find('.'))) != sections.end();
  return whole ? path : "model.block." + path;
}

std::string describe(const Match& match) {
  return fmt::format("matched by {}, residue {}", name_of(match.by), percent(match.residue()));
}

std::string complaint(const Match& match, double largest_residue) {
  if (std::abs(match.residue()) <= largest_residue && (match.key_matters || match.residue() == 0)) return "";
  const auto what =
      fmt::format("cannot be matched by {}: the base has {}, ", name_of(match.by), amount(match.target, match.by));
  if (!match.key_matters)
    return what + fmt::format("this arm has {} at every value of {}", amount(match.reached, match.by), match.key);
  return what + fmt::format("{} {} comes nearest with {}, residue {}, and the tolerance is {} %", match.key,
                            match.value, amount(match.reached, match.by), percent(match.residue()),
                            100 * largest_residue);
}

double measure(const RunConfig& config, MatchBy by) {
  const auto steps = config.train.steps, batch = config.train.batch;
  switch (by) {
    case MatchBy::kParameters:
      return static_cast<double>(count_parameters(config.model).total);
    case MatchBy::kParametersWithoutEmbeddings:
      return static_cast<double>(without_embeddings(count_parameters(config.model).by_part));
    case MatchBy::kFlops:
      return static_cast<double>(steps) * training_flops(config.model, batch);
    case MatchBy::kTokens:
      return static_cast<double>(steps) * static_cast<double>(batch * config.model.context);
    case MatchBy::kNone:
    case MatchBy::kWallClock:
      break;
  }
  TORCH_CHECK(false, "[match] nothing is measured by ", name_of(by));
}

Match nearest_match(const RunAt& run_at, const MatchTarget& target, int64_t start) {
  Match best{.by = target.by, .key = target.key, .target = target.target};
  Search(run_at, target, best).run(start);
  return best;
}

}  // namespace blockzoo
