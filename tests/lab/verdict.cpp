#include "blockzoo/lab/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "blockzoo/core/names.h"
#include "support/catch.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

constexpr double kDivergedLoss = std::numeric_limits<double>::quiet_NaN();

/// Losses by arm and rate, one for each seed; NaN is a run that diverged. The first arm is the base.
using Losses = std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::vector<double>>>>>;

struct MadeSweep {
  Study study;
  std::vector<RunOutcome> outcomes;

  explicit MadeSweep(const Losses& losses) {
    study = {.name = "made", .question = "Which?", .base = tiny_run(), .runs = {}};
    for (const auto& [arm, rates] : losses) {
      for (const auto& [rate, seeds] : rates) {
        for (size_t seed = 0; seed < seeds.size(); ++seed) add(arm, rate, static_cast<int64_t>(seed), seeds[seed]);
      }
    }
  }

  void add(const std::string& arm, const std::string& rate, int64_t seed, double loss) {
    PlannedRun run{.arm = arm,
                   .sweep = {{"train.optimizer.lr", rate}},
                   .seed = seed,
                   .folder = std::filesystem::path(arm) / rate / std::to_string(seed),
                   .config = tiny_run(),
                   .differences = {{"train.optimizer.lr", "1", rate}}};
    const bool is_base = study.runs.empty() || arm == study.runs.front().arm;
    if (!is_base) run.differences.push_back({"model.block.layout.kind", "pre_norm", arm});
    RunOutcome outcome{.folder = run.folder, .record = {}};
    outcome.record.status = std::isnan(loss) ? RunStatus::kDiverged : RunStatus::kFinished;
    outcome.record.first_loss = 5;
    outcome.record.tokens = 640;
    if (!std::isnan(loss)) outcome.record.validation = EvalResult{.loss = loss, .window_losses = {loss - 1, loss + 1}};
    study.runs.push_back(std::move(run));
    outcomes.push_back(std::move(outcome));
  }
  Judgement judgement() const { return judge(study, outcomes); }
};

}  // namespace

TEST_CASE("A clear difference is a word, a small one is none, and Holm stands between", "[lab][verdict][torch]") {
  const MadeSweep made({{"base", {{"1e-3", {1.00, 1.10, 1.20}}}},
                        {"low", {{"1e-3", {0.90, 1.001, 1.099}}}},
                        {"high", {{"1e-3", {1.101, 1.20, 1.299}}}},
                        {"noisy", {{"1e-3", {0.90, 1.20, 1.15}}}}});
  const auto judgement = made.judgement();
  CHECK(judgement.base == "base");
  REQUIRE(judgement.best_against_best.size() == 3);
  const auto& low = judgement.best_against_best[0];
  CHECK(low.verdict == Verdict::kBetter);
  CHECK(low.difference->mean == Approx(-0.1));
  CHECK(low.difference->interval.high < 0);
  CHECK(low.adjusted_p >= low.difference->p);
  CHECK(low.over_windows->low == Approx(-0.1));
  CHECK(judgement.best_against_best[1].verdict == Verdict::kWorse);
  CHECK(judgement.best_against_best[2].verdict == Verdict::kNoDifferenceShown);
  CHECK(judgement.noise.base.mean == Approx(1.1));
  CHECK(*judgement.noise.smallest_difference > 0.1);
  CHECK_THAT(judgement.sentences[0], ContainsSubstring("low at lr 1e-3 is better than base at lr 1e-3: -0.1000 nats"));
}

TEST_CASE("The best point counts among those where every seed finished", "[lab][verdict][torch]") {
  const MadeSweep made({{"base", {{"1e-3", {1.0, 1.1}}, {"1e-2", {0.9, 1.0}}}},
                        {"arm", {{"1e-3", {1.5, 1.6}}, {"1e-2", {0.5, kDivergedLoss}}}}});
  const auto judgement = made.judgement();
  const auto& best = judgement.best_against_best.at(0);
  CHECK(best.sweep.at(0).value == "1e-3");
  CHECK(best.base_sweep.at(0).value == "1e-2");
  REQUIRE(judgement.same_point.size() == 2);
  CHECK((judgement.same_point[0].base_sweep == judgement.same_point[0].sweep));
  CHECK(judgement.same_point[1].verdict == Verdict::kDiverged);
  CHECK(judgement.same_point[1].reason == "1 of 2 seeds diverged");
  CHECK_FALSE(judgement.same_point[1].difference);
}

TEST_CASE("An arm that diverges everywhere has diverged", "[lab][verdict][torch]") {
  const MadeSweep made({{"base", {{"1e-3", {1.0, 1.1}}}}, {"arm", {{"1e-3", {kDivergedLoss, kDivergedLoss}}}}});
  CHECK(made.judgement().best_against_best.at(0).verdict == Verdict::kDiverged);
}

TEST_CASE("What did not see the same is not comparable, and says why", "[lab][verdict][torch]") {
  MadeSweep made({{"base", {{"1e-3", {1.0, 1.1}}}}, {"arm", {{"1e-3", {0.5, 0.6}}}}});
  const auto reason = [&] {
    const auto one = made.judgement().best_against_best.at(0);
    CHECK(one.verdict == Verdict::kNotComparable);
    return one.reason;
  };
  made.outcomes[3].record.tokens = 320;
  CHECK(reason() == "it trained on 320 tokens and the base on 640");
  made.outcomes[2].record.validation_hash = "other";
  CHECK(reason() == "its validation windows are not the base's");
  made.outcomes[2].record.data_hash = "other";
  CHECK(reason() == "its data is not the base's");
  made.outcomes[0].record.status = RunStatus::kFailed;
  CHECK(reason() == "of the base, 1 of 2 seeds is not finished");
  made.outcomes[3].record.status = RunStatus::kRunning;
  CHECK(reason() == "1 of 2 seeds is not finished");
}

TEST_CASE("One seed shows no difference, and equal losses are suspicious", "[lab][verdict][torch]") {
  const MadeSweep single({{"base", {{"1e-3", {1.0}}}}, {"arm", {{"1e-3", {0.1}}}}});
  CHECK(single.judgement().best_against_best.at(0).verdict == Verdict::kNoDifferenceShown);
  CHECK_THAT(single.judgement().sentences[0], ContainsSubstring("one seed cannot tell a difference from noise"));
  const MadeSweep equal({{"base", {{"1e-3", {1.0, 1.1}}}}, {"arm", {{"1e-3", {1.0, 1.1}}}}});
  CHECK(equal.judgement().best_against_best.at(0).verdict == Verdict::kNoDifferenceShown);
  CHECK_THAT(equal.judgement().sentences[0], ContainsSubstring("may not act at all"));
}

TEST_CASE("Without an arm that is the base nothing is judged", "[lab][verdict][torch]") {
  MadeSweep made({{"a", {{"1e-3", {1.0}}}}});
  made.study.runs[0].differences.push_back({"model.width", "16", "32"});
  CHECK(made.judgement().best_against_best.empty());
  CHECK_THAT(made.judgement().sentences.at(0), StartsWith("No arm is the base itself"));
}

TEST_CASE("A hypothesis is borne out, contradicted or left open by the interval", "[lab][verdict][torch]") {
  MadeSweep made({{"base", {{"1e-3", {1.00, 1.10, 1.20}}}}, {"low", {{"1e-3", {0.90, 1.001, 1.099}}}}});
  const auto said = [&](const HypothesisConfig& hypothesis) {
    made.study.hypothesis = hypothesis;
    return made.judgement().sentences[0];
  };
  CHECK_THAT(
      said({"low", "base", 0.05}),
      StartsWith("Hypothesis, low is better than base by at least 0.05 nats: borne out, each at its best, -0.1000"));
  CHECK_THAT(said({"low", "base", 0}), ContainsSubstring(": borne out"));
  CHECK_THAT(said({"low", "base", 0.1}), ContainsSubstring(": neither shown nor contradicted"));
  CHECK_THAT(said({"low", "base", 0.2}), ContainsSubstring(": contradicted"));
  CHECK_THAT(said({"base", "low", 0}), ContainsSubstring(": contradicted"));
  made.outcomes[4].record.status = RunStatus::kDiverged;
  CHECK_THAT(said({"low", "base", 0}), ContainsSubstring(": cannot be judged, 1 of 3 seeds diverged."));
}

TEST_CASE("Sensitivity to the rate counts a diverged point with the start's loss", "[lab][verdict][torch]") {
  const MadeSweep made({{"base", {{"1e-3", {1.0, 1.0}}, {"1e-2", {2.0, 2.0}}}},
                        {"arm", {{"1e-3", {1.0, 1.0}}, {"1e-2", {1.0, kDivergedLoss}}}}});
  const auto sensitivity = made.judgement().sensitivity;
  REQUIRE(sensitivity.size() == 2);
  CHECK(sensitivity[0].nats == Approx(0.5));
  CHECK(sensitivity[1].nats == Approx((1.0 + 5.0) / 2 - 1));
}

TEST_CASE("A study that has not begun is judged without a number", "[lab][verdict][torch]") {
  MadeSweep made({{"base", {{"1e-3", {1.0, 1.1}}}}, {"arm", {{"1e-3", {0.5, 0.6}}}}});
  for (auto& outcome : made.outcomes) outcome.record = {};
  const auto judgement = made.judgement();
  CHECK(judgement.best_against_best.at(0).verdict == Verdict::kNotComparable);
  CHECK(judgement.noise.base.count == 0);
  CHECK(judgement.sensitivity.empty());
}

TEST_CASE("Arms with different tokenizers are held against each other in bits per byte alone",
          "[lab][verdict][torch]") {
  MadeSweep made({{"base", {{"1e-3", {1.0, 1.1, 1.2}}}}, {"pieces", {{"1e-3", {3.0, 3.1, 3.2}}}}});
  for (size_t i = 0; i < made.outcomes.size(); ++i) {
    auto& record = made.outcomes[i].record;
    record.parameters = 10;
    record.text_hash = "text";
    record.data_hash = i < 3 ? "bytes" : "ids";
    record.tokenizer = i < 3 ? "" : "pieces";
    record.validation->bits_per_byte = (i < 3 ? 2.0 : 1.8) + 0.01 * static_cast<double>(i % 3);
  }
  auto judgement = made.judgement();
  CHECK(judgement.measure == Measure::kBitsPerByte);
  const auto& comparison = judgement.best_against_best.at(0);
  CHECK(comparison.verdict == Verdict::kBetter);
  CHECK(comparison.difference->mean == Approx(-0.2));
  CHECK_FALSE(comparison.over_windows);
  CHECK_THAT(judgement.sentences[0], ContainsSubstring("nats per token of different tokens do not compare"));
  CHECK_THAT(judgement.sentences[1], ContainsSubstring("-0.2000 bits per byte"));
  CHECK(judgement.sensitivity.empty());

  made.study.hypothesis = {"pieces", "base", 0.1};
  CHECK_THAT(made.judgement().sentences[0], ContainsSubstring("cannot be judged, the arms have different tokenizers"));
  made.study.hypothesis = {"pieces", "base", 0};
  CHECK_THAT(made.judgement().sentences[0], ContainsSubstring("borne out"));

  for (size_t i = 3; i < made.outcomes.size(); ++i) made.outcomes[i].record.text_hash = "other text";
  CHECK(made.judgement().best_against_best.at(0).reason == "its text is not the base's");
  made.outcomes[3].record.validation->bits_per_byte.reset();
  CHECK_THAT(made.judgement().best_against_best.at(0).reason, ContainsSubstring("1 of 3 seeds is not finished"));
}

TEST_CASE("Arms are judged on repeated names and elsewhere, in bits per byte", "[lab][verdict][torch]") {
  MadeSweep made({{"base", {{"1e-3", {1.0, 1.1, 1.2}}}}, {"arm", {{"1e-3", {1.01, 1.12, 1.19}}}}});
  CHECK(made.judgement().by_part.empty());  // nobody marked names
  const auto mark = [&](size_t run, double repeated, double elsewhere) {
    auto& validation = *made.outcomes[run].record.validation;
    validation.bits_per_byte = validation.loss / std::log(2.0);
    validation.repeated_names = repeated;
    validation.elsewhere = elsewhere;
  };
  const double one = std::log(2.0);  // nats of a bit
  for (size_t seed = 0; seed < 3; ++seed) {
    const double noise = 0.01 * static_cast<double>(seed);
    mark(seed, one * (0.5 + noise), one * (1 + noise));
    mark(3 + seed, one * (2.5 + 2 * noise), one * (1 + (seed == 1 ? 0.02 : 0)));
  }
  const auto judgement = made.judgement();
  REQUIRE(judgement.by_part.size() == 2);
  const auto &names = judgement.by_part[0], &rest = judgement.by_part[1];
  CHECK(names.part == "repeated names");
  CHECK(names.base_loss.mean == Approx(0.51));
  CHECK(names.loss.mean == Approx(2.52));
  CHECK(names.difference->mean == Approx(2.01));
  CHECK(names.verdict == Verdict::kWorse);
  CHECK(names.adjusted_p == Approx(std::min(1.0, 2 * names.difference->p)));  // Holm over both parts
  CHECK(rest.part == "elsewhere");
  CHECK(rest.verdict == Verdict::kNoDifferenceShown);
  CHECK(judgement.best_against_best.at(0).verdict == Verdict::kNoDifferenceShown);
  const auto said = [&](const std::string& words) {
    return std::any_of(judgement.sentences.begin(), judgement.sentences.end(),
                       [&](const auto& sentence) { return sentence.find(words) != sentence.npos; });
  };
  CHECK(said("On repeated names arm at lr 1e-3 is worse than base at lr 1e-3: +2.0100 bits per byte"));
  CHECK(said("Elsewhere arm at lr 1e-3 against base at lr 1e-3: no difference shown"));

  made.outcomes[4].record.validation->repeated_names.reset();  // one seed is not known: that part cannot be judged
  REQUIRE(made.judgement().by_part.size() == 1);
  CHECK(made.judgement().by_part[0].part == "elsewhere");
}

}  // namespace blockzoo
