#include <algorithm>
#include <cmath>
#include <functional>

#include "blockzoo/lab/verdict.h"
#include "support/catch.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A study with the loss of every combination and seed as `loss` says; NaN is a run that diverged.
struct MadeFactorial {
  Study study;
  std::vector<RunOutcome> outcomes;

  MadeFactorial(const std::vector<Factor>& factors, int64_t seeds,
                const std::function<double(const std::vector<size_t>&, int64_t)>& loss) {
    study = {.name = "made", .question = "Which?", .base = tiny_run(), .runs = {}, .factors = factors};
    std::vector<size_t> levels(factors.size(), 0);
    do {
      for (int64_t seed = 0; seed < seeds; ++seed) add(levels, seed, loss(levels, seed));
    } while (next(levels));
  }

  void add(const std::vector<size_t>& levels, int64_t seed, double loss) {
    std::string arm;
    for (size_t f = 0; f < levels.size(); ++f) arm += (f ? "+" : "") + study.factors[f].levels[levels[f]];
    PlannedRun run{.arm = arm,
                   .sweep = {},
                   .seed = seed,
                   .folder = std::filesystem::path(arm) / std::to_string(seed),
                   .config = tiny_run(),
                   .differences = {}};
    if (!study.runs.empty() && arm != study.runs.front().arm) run.differences.push_back({"model.block", "a", arm});
    RunOutcome outcome{.folder = run.folder, .record = {}};
    outcome.record.status = std::isnan(loss) ? RunStatus::kDiverged : RunStatus::kFinished;
    if (!std::isnan(loss)) outcome.record.validation = EvalResult{.loss = loss, .window_losses = {loss - 1, loss + 1}};
    study.runs.push_back(std::move(run));
    outcomes.push_back(std::move(outcome));
  }

  bool next(std::vector<size_t>& levels) const {
    for (size_t f = levels.size(); f-- > 0;) {
      if (++levels[f] < study.factors[f].levels.size()) return true;
      levels[f] = 0;
    }
    return false;
  }

  Judgement judgement() const { return judge(study, outcomes); }
};

const std::vector<Factor> kTwoByTwo = {{"layout", {"pre", "post"}}, {"warmup", {"none", "long"}}};

/// Small, different for each combination and seed, and of mean zero over the three seeds.
double noise(const std::vector<size_t>& levels, int64_t seed) {
  const double size = 0.001 * (1.0 + static_cast<double>(levels[0] + 2 * levels[1]));
  return size * static_cast<double>(seed - 1);
}

std::string of(const FactorialEffect& effect) {
  std::string text;
  for (const auto& [factor, level] : effect.of) text += factor + "=" + level + " ";
  return text;
}

}  // namespace

TEST_CASE("Main effects are means over the other factor, and the interaction is the difference of differences",
          "[lab][factorial][torch]") {
  const MadeFactorial made(kTwoByTwo, 3, [](const auto& levels, int64_t seed) {
    return 1.0 + 0.5 * static_cast<double>(levels[0]) - 0.1 * static_cast<double>(levels[1]) -
           0.4 * static_cast<double>(levels[0] * levels[1]) + noise(levels, seed);
  });
  const auto effects = made.judgement().factorial;
  REQUIRE(effects.size() == 3);
  CHECK(of(effects[0]) == "warmup=long ");
  CHECK(effects[0].difference->mean == Approx(-0.1 - 0.2));
  CHECK(effects[0].verdict == Verdict::kBetter);
  CHECK(of(effects[1]) == "layout=post ");
  CHECK(effects[1].difference->mean == Approx(0.5 - 0.2));
  CHECK(effects[1].verdict == Verdict::kWorse);
  CHECK(of(effects[2]) == "layout=post warmup=long ");
  CHECK(effects[2].difference->mean == Approx(-0.4));
  CHECK(effects[2].over_windows->low == Approx(-0.4));
  CHECK(effects[2].verdict == Verdict::kBetter);
  // Each seed's sum is one value: -0.4 + (4 - 3 - 2 + 1) * 0.001 * (seed - 1), so all are equal.
  CHECK(effects[2].difference->deviation == Approx(0).margin(1e-12));
  const auto sentences = made.judgement().sentences;
  CHECK(std::any_of(sentences.begin(), sentences.end(), [](const std::string& sentence) {
    return sentence.starts_with("Interaction of layout post with warmup long: -0.4000 nats per token (95 % interval") &&
           sentence.ends_with(", together better than their own effects add up to.");
  }));
}

TEST_CASE("Where effects only add up no interaction is shown", "[lab][factorial][torch]") {
  const MadeFactorial made(kTwoByTwo, 4, [](const auto& levels, int64_t seed) {
    const double wobble = (seed % 2 == 0 ? 0.01 : -0.01) * (levels[0] == levels[1] ? 1 : -1);
    return 1.0 + 0.5 * static_cast<double>(levels[0]) - 0.3 * static_cast<double>(levels[1]) + wobble;
  });
  const auto effects = made.judgement().factorial;
  CHECK(effects[2].difference->mean == Approx(0).margin(1e-12));
  CHECK(effects[2].difference->deviation == Approx(0.04 * 2 / std::sqrt(3)));  // +-0.04 over four seeds
  CHECK(effects[2].verdict == Verdict::kNoDifferenceShown);
}

TEST_CASE("Three factors, one of three levels: every order of interaction, averaged over the rest",
          "[lab][factorial][torch]") {
  const std::vector<Factor> factors = {{"a", {"0", "1"}}, {"b", {"0", "1", "2"}}, {"c", {"0", "1"}}};
  const MadeFactorial made(factors, 2, [](const std::vector<size_t>& l, int64_t seed) {
    const double a = static_cast<double>(l[0]), c = static_cast<double>(l[2]);
    const double b = l[1] == 2 ? 1 : 0;
    return 2 + a + 10 * b + 100 * c + 1000 * a * b + 10000 * a * b * c + 0.001 * static_cast<double>(seed);
  });
  const auto effects = made.judgement().factorial;
  REQUIRE(effects.size() == 2 * 3 * 2 - 1);
  const auto mean = [&](const std::string& name) {
    for (const auto& effect : effects) {
      if (of(effect) == name) return effect.difference->mean;
    }
    return std::nan("");
  };
  CHECK(mean("a=1 ") == Approx(1 + 1000.0 / 3 + 10000.0 / 6));
  CHECK(mean("b=1 ") == Approx(0).margin(1e-9));
  CHECK(mean("b=2 ") == Approx(10 + 500 + 2500));
  CHECK(mean("c=1 ") == Approx(100 + 10000.0 / 6));
  CHECK(mean("a=1 b=2 ") == Approx(1000 + 5000));
  CHECK(mean("a=1 b=1 ") == Approx(0).margin(1e-9));
  CHECK(mean("a=1 c=1 ") == Approx(10000.0 / 3));
  CHECK(mean("b=2 c=1 ") == Approx(5000));
  CHECK(mean("a=1 b=2 c=1 ") == Approx(10000));
  CHECK(effects.front().of.size() == 1);
  CHECK(effects.back().of.size() == 3);
}

TEST_CASE("An effect that needs a diverged arm says which, and the others stand", "[lab][factorial][torch]") {
  const std::vector<Factor> factors = {{"a", {"0", "1", "2"}}, {"b", {"0", "1"}}};
  const MadeFactorial made(factors, 2, [](const std::vector<size_t>& l, int64_t seed) {
    return l[0] == 2 && l[1] == 1 ? std::nan("")
                                  : 1 + 0.1 * static_cast<double>(l[0]) + 0.01 * static_cast<double>(seed);
  });
  for (const auto& effect : made.judgement().factorial) {
    const bool needs_it = of(effect) != "a=1 " && of(effect) != "a=1 b=1 ";
    CHECK((effect.verdict == Verdict::kNotComparable) == needs_it);
    if (needs_it) CHECK(effect.reason == "of 2+1, 2 of 2 seeds diverged");
  }
}

TEST_CASE("A study that is not factorial has no effects of factors", "[lab][factorial][torch]") {
  MadeFactorial made(kTwoByTwo, 2, [](const auto&, int64_t) { return 1.0; });
  made.study.factors.clear();
  CHECK(made.judgement().factorial.empty());
}

}  // namespace blockzoo
