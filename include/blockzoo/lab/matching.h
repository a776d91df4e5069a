#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// What every arm shall have as much of as the base.
enum class MatchBy { kNone, kParameters, kParametersWithoutEmbeddings, kFlops, kTokens, kWallClock };

constexpr auto names(MatchBy) {
  using enum MatchBy;
  return std::to_array<std::pair<MatchBy, std::string_view>>(
      {{kNone, "none"},
       {kParameters, "parameters"},
       {kParametersWithoutEmbeddings, "parameters_without_embeddings"},
       {kFlops, "flops"},
       {kTokens, "tokens"},
       {kWallClock, "wall_clock"}});
}

/// `match:` of a study: one whole number of each arm is searched until the arm is as large as the base.
struct MatchConfig {
  MatchBy by = MatchBy::kNone;
  std::optional<std::string> free_key;
  std::optional<double> tolerance;

  static void fields(auto& self, auto& visit) {
    visit(
        "by", self.by,
        "what every arm shall have as much of as the base; flops are those of the whole training, wall_clock is timed "
        "before the first run");
    visit("using", self.free_key,
          "dotted path of the whole number that is searched; auto is model.block.ffn.hidden, by tokens and "
          "wall_clock train.steps; model.block. may be left out");
    visit("tolerance", self.tolerance, dropout_rate, "largest residue |arm / base - 1|; auto is 0.02");
  }
  static void rules(const auto& self, auto& expect) {
    const bool none = self.by == MatchBy::kNone;
    expect(!none || !self.free_key, "using", "has no effect when by is none");
    expect(!none || !self.tolerance, "tolerance", "has no effect when by is none");
    expect(self.by != MatchBy::kWallClock || self.key() == "train.steps", "using",
           "must be train.steps when runs are matched by wall clock");
  }

  /// The searched key, as a path from the top of a run file.
  std::string key() const;
  double largest_residue() const { return tolerance.value_or(0.02); }
};

/// What a search came to.
struct Match {
  MatchBy by = MatchBy::kNone;
  std::string key;
  int64_t value = 0;         // of the key
  double target = 0;         // what the base has
  double reached = 0;        // what the arm has
  bool key_matters = false;  // some other value of the key gave another measure

  double residue() const { return reached / target - 1; }
};

/// "matched by parameters, residue +0.04 %".
std::string describe(const Match& match);

/// One sentence about a match beyond the tolerance, or by a key that changes nothing; empty when there is nothing to
/// say.
std::string complaint(const Match& match, double largest_residue);

/// What a run has: parameters, FLOPs of its whole training (kTrainingFlopsConvention), or training tokens. Not for
/// kWallClock, which has to be timed.
double measure(const RunConfig& config, MatchBy by);

/// The run with the searched key at that value. Throws ConfigError when that value does not fit.
using RunAt = std::function<RunConfig(int64_t)>;

/// What a search is for.
struct MatchTarget {
  MatchBy by = MatchBy::kNone;
  std::string key;
  double target = 0;
  std::function<double(const RunConfig&)> measure;
};

/// The value, `start` or from 1 on, for which the measure comes nearest to the target; of two equally near the smaller.
/// The measure must not fall as the value grows. Values that do not fit are passed over; `start` must fit.
Match nearest_match(const RunAt& run_at, const MatchTarget& target, int64_t start);

}  // namespace blockzoo
