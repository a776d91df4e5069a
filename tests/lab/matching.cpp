#include "blockzoo/lab/matching.h"

#include "blockzoo/lab/study.h"
#include "blockzoo/nn/flops.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/train/record.h"
#include "support/catch.h"
#include "support/study_text.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

int64_t parameters(const PlannedRun& run) { return count_parameters(run.config.model).total; }

int64_t hidden(const PlannedRun& run) {
  return std::visit([](const auto& ffn) { return ffn.hidden.value_or(0); }, run.config.model.block.ffn);
}

std::string difference_at(const PlannedRun& run, const std::string& path) {
  for (const auto& difference : run.differences) {
    if (difference.path == path) return difference.after;
  }
  return "";
}

/// Attention of four kinds beside multi-head attention.
const std::string attentions = R"(base: {model: {width: 64, layers: 2, block: {attention: {heads: 8}}}}
arms:
  mha: {}
  gqa: {model: {block: {attention: {kv_heads: 2}}}}
  mqa: {model: {block: {attention: {kv_heads: 1}}}}
  mla: {model: {block: {attention: {kind: latent, heads: 8}}}}
)";

}  // namespace

TEST_CASE("Grouped, multi-query and latent attention are matched to multi-head attention by the hidden width",
          "[lab][matching][torch]") {
  const auto study = study_of(attentions + "match: {by: parameters}\n");
  REQUIRE(study.runs.size() == 4);
  const auto base = count_parameters(study.base.model).total;
  CHECK_FALSE(study.runs[0].match);
  CHECK(study.runs[0].differences.empty());
  for (const auto& run : study.runs) {
    INFO(run.arm);
    CHECK(std::abs(static_cast<double>(parameters(run)) / static_cast<double>(base) - 1) <= 0.02);
    if (run.arm == "mha") continue;
    REQUIRE(run.match);
    CHECK(run.match->target == static_cast<double>(base));
    CHECK(run.match->reached == static_cast<double>(parameters(run)));
    CHECK(run.match->residue() == Approx(static_cast<double>(parameters(run) - base) / static_cast<double>(base)));
    CHECK(run.match->value == hidden(run));
    CHECK(difference_at(run, "model.block.ffn.hidden") == std::to_string(hidden(run)));
    auto other = run;
    for (const int64_t step : {-1, 1}) {  // no neighbour is nearer
      std::get<GluConfig>(other.config.model.block.ffn).hidden = hidden(run) + step;
      CHECK(std::abs(parameters(other) - base) >= std::abs(parameters(run) - base));
    }
  }
}

TEST_CASE("A gated and a plain feed-forward sublayer are matched, whatever the base's hidden width came from",
          "[lab][matching][torch]") {
  const auto study = study_of(R"(base: {model: {width: 64, layers: 2, block: {ffn: {multiple_of: 32, rounding: down}}}}
arms: {glu: {}, mlp: {model: {block: {ffn: {kind: mlp}}}}, narrow: {model: {block: {attention: {kv_heads: 1}}}}}
match: {by: parameters_without_embeddings, using: ffn.hidden, tolerance: 0.005}
)");
  CHECK(hidden(study.runs[1]) == 240);  // 3 x 160 / 2
  CHECK(study.runs[1].match->residue() == 0);
  CHECK(study.runs[1].match->target ==
        static_cast<double>(without_embeddings(count_parameters(study.base.model).by_part)));
  CHECK(describe(*study.runs[1].match) == "matched by parameters_without_embeddings, residue 0 %");
  CHECK_THAT(difference_at(study.runs[1], "model.block.ffn"), ContainsSubstring("hidden: 240"));
  CHECK(hidden(study.runs[2]) > 160);
}

TEST_CASE("Matching by flops counts the whole training, and may search its steps", "[lab][matching][torch]") {
  const auto flops = [](const PlannedRun& run) {
    return training_flops(run.config.model, run.config.train.steps * run.config.train.batch);
  };
  const auto by_width = study_of(attentions + "match: {by: flops}\n");
  const auto target = flops(by_width.runs[0]);
  for (const auto& run : by_width.runs) CHECK(flops(run) == Approx(target).epsilon(0.02));
  const auto by_steps = study_of(R"(base: {train: {steps: 1000}}
arms: {a: {}, wide: {model: {width: 192}}}
match: {by: flops, using: train.steps, tolerance: 0.005}
)");
  const auto& wide = by_steps.runs[1];
  CHECK(wide.config.train.steps < 600);
  CHECK(wide.config.train.steps == wide.match->value);
  CHECK(flops(wide) == Approx(flops(by_steps.runs[0])).epsilon(0.005));
  CHECK(wide.match->reached == flops(wide));
  CHECK(difference_at(wide, "train.steps") == std::to_string(wide.config.train.steps));
}

TEST_CASE("Matching by tokens sets the steps", "[lab][matching][torch]") {
  const auto study = study_of(R"(base: {train: {steps: 30, batch: 8}}
arms: {a: {}, b: {train: {batch: 16}}, norm: {model: {block: {norm: {kind: layer_norm}}}}}
match: {by: tokens}
)");
  CHECK(study.runs[1].config.train.steps == 15);
  CHECK(study.runs[1].match->residue() == 0);
  CHECK(study.runs[2].config.train.steps == 30);
  CHECK(difference_at(study.runs[2], "train.steps") == "");
}

TEST_CASE("Each point of a sweep is matched to the base at that point", "[lab][matching][torch]") {
  const auto study = study_of(R"(base: {}
arms: {a: {}, b: {model: {block: {ffn: {kind: mlp}}}}}
sweep: {model.layers: [1, 2], train.optimizer.lr: [1e-3, 2e-3]}
match: {by: parameters}
)");
  REQUIRE(study.runs.size() == 8);
  for (size_t point = 0; point < 4; ++point) {
    const auto &base = study.runs[point], &arm = study.runs[4 + point];
    CHECK_FALSE(base.match);
    CHECK(arm.match->target == static_cast<double>(parameters(base)));
    CHECK(static_cast<double>(parameters(arm)) == Approx(static_cast<double>(parameters(base))).epsilon(0.02));
  }
}

TEST_CASE("Values that do not fit are passed over", "[lab][matching][torch]") {
  const auto study = study_of(R"(base: {model: {width: 96, block: {attention: {heads: 12}}}}
arms: {a: {}, b: {model: {block: {ffn: {kind: mlp, ratio: 2}}}}}
match: {by: parameters, using: model.width, tolerance: 0.2}
)");
  const auto width = study.runs[1].config.model.width;
  CHECK(width == study.runs[1].match->value);
  CHECK(width % 12 == 0);
  CHECK(width > 96);
  auto other = study.runs[1];
  const auto distance = [&](int64_t value) {
    other.config.model.width = value;
    return std::abs(static_cast<double>(parameters(other)) - other.match->target);
  };
  CHECK(distance(width) <= std::min(distance(width - 24), distance(width + 24)));  // heads of even width rotate
}

TEST_CASE("The search finds the nearest of every monotone row, at both ends and over gaps", "[lab][matching][torch]") {
  const auto run_at = [](int64_t value) {
    if (value < 3 || value > 900 || value % 3 == 2) throw ConfigError(Problem{{}, "", "does not fit"});
    auto config = tiny_run();
    config.train.steps = value;
    return config;
  };
  const auto each = static_cast<double>(4 * 24);
  const auto found = [&](double steps, int64_t start) {
    const auto tokens = [](const RunConfig& config) { return measure(config, MatchBy::kTokens); };
    return nearest_match(run_at, {MatchBy::kTokens, "train.steps", steps * each, tokens}, start).value;
  };
  for (const int64_t start : {3, 100, 900}) {
    CHECK(found(1, start) == 3);
    CHECK(found(4, start) == 4);
    CHECK(found(7.4, start) == 7);
    CHECK(found(8, start) == 7);  // 8 does not fit; 7 and 9 are equally near
    CHECK(found(8.2, start) == 9);
    CHECK(found(899.6, start) == 900);
    CHECK(found(5000, start) == 900);
  }
}

TEST_CASE("An arm that cannot be matched is refused in one sentence with its best value",
          "[lab][matching][error][torch]") {
  const auto text = study_refusal(R"(base: {model: {width: 64, layers: 2}}
arms:
  a: {}
  deep: {model: {layers: 8}}
match: {by: parameters}
)");
  CHECK_THAT(text, ContainsSubstring("s.yaml:4: arms.deep: cannot be matched by parameters: the base has ") &&
                       ContainsSubstring("model.block.ffn.hidden 1 comes nearest with ") &&
                       ContainsSubstring(" %, and the tolerance is 2 %"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 0);
  CHECK_THAT(
      study_refusal("base: {}\narms:\n  deep: {model: {layers: 8}}\nmatch: {by: flops, using: attention.window}\n"),
      ContainsSubstring("s.yaml:3: arms.deep") && ContainsSubstring("at every value of model.block.attention.window"));
  CHECK_THAT(
      study_refusal(
          "base: {}\narms:\n  b: {model: {block: {layout: {kind: double_norm}}}}\nmatch: {by: parameters, using: "
          "attention.window}\n"),  // within the tolerance, but not by the key
      ContainsSubstring("s.yaml:3: arms.b: cannot be matched by parameters") &&
          ContainsSubstring("at every value of model.block.attention.window"));
}

TEST_CASE("Mistakes in match name the line and what is allowed", "[lab][matching][error][torch]") {
  const std::string start = "base: {}\narms: {a: {}, b: {model: {layers: 3}}}\nmatch:\n";
  CHECK_THAT(study_refusal(start + "  by: wall_clock\n  using: ffn.hidden\n"),
             ContainsSubstring("s.yaml:5: match.using: must be train.steps when runs are matched by wall clock"));
  CHECK_THAT(study_refusal(start + "  by: size\n"), ContainsSubstring("s.yaml:4: match.by: is 'size'; one of: none"));
  CHECK_THAT(study_refusal(start + "  using: ffn.hidden\n"), ContainsSubstring("s.yaml:4: match.using: has no effect"));
  CHECK_THAT(study_refusal(start + "  tolerance: 0.1\n"),
             ContainsSubstring("s.yaml:4: match.tolerance: has no effect"));
  CHECK_THAT(study_refusal(start + "  by: flops\n  tolerance: 2\n"),
             ContainsSubstring("s.yaml:5: match.tolerance: is 2"));
  CHECK_THAT(study_refusal(start + "  by: flops\n  using: ffn.hiden\n"),
             ContainsSubstring("s.yaml:5: match.using: no such key, 'model.block.ffn.hiden'") &&
                 ContainsSubstring("did you mean 'model.block.ffn.hidden'?"));
  CHECK_THAT(study_refusal(start + "  by: flops\n  using: train.clip\n"),
             ContainsSubstring("s.yaml:5: match.using: train.clip is not a whole number"));
  CHECK_THAT(study_refusal(start + "  by: flops\n  using: attention.key_value_rank\n"),
             ContainsSubstring("s.yaml:5: arms.b: match.using: model.block.attention.key_value_rank: does not apply to "
                               "kind softmax; it is a key of: latent"));
}

TEST_CASE("What match sets must not be set by an arm or the sweep", "[lab][matching][error][torch]") {
  const auto text = study_refusal(R"(base: {}
arms:
  a: {}
  b: {model: {block: {ffn: {kind: mlp, hidden: 7}}}}
  c: {model: {block: {ffn: {kind: mlp, ratio: 2}}}}
sweep:
  model.block.ffn.hidden: [8, 16]
match: {by: parameters}
)");
  CHECK_THAT(text, ContainsSubstring("s.yaml:4: arms.b: model.block.ffn.hidden: has no effect; match sets it"));
  CHECK_THAT(text, ContainsSubstring("s.yaml:5: arms.c: model.block.ffn.ratio: has no effect; match sets "
                                     "model.block.ffn.hidden"));
  CHECK_THAT(text, ContainsSubstring("s.yaml:7: sweep.model.block.ffn.hidden: has no effect"));
}

TEST_CASE("A budget of tokens sets the steps of every arm and point", "[lab][matching][budget][torch]") {
  const auto study =
      study_of(R"(base: {base: models/tiny.yaml, model: {context: 64}, train: {batch: 8, schedule: {warmup: 900}}}
arms: {a: {}, big: {train: {batch: 16}}}
sweep: {model.context: [32, 64]}
budget: {tokens: 1e6}
)");
  CHECK(study.base.train.steps == 1'000'000 / (8 * 64));
  CHECK(study.runs[0].config.train.steps == 1'000'000 / (8 * 32));
  CHECK(study.runs[1].config.train.steps == 1'000'000 / (8 * 64));
  CHECK(study.runs[2].config.train.steps == 1'000'000 / (16 * 32));
  CHECK(study.runs[3].config.train.steps == 1'000'000 / (16 * 64));
  CHECK(study.runs[1].differences.empty());
  CHECK(difference_at(study.runs[3], "train.steps") == "976");
}

TEST_CASE("A budget and a match by flops go together", "[lab][matching][budget][torch]") {
  const auto study = study_of(attentions + "match: {by: flops}\nbudget: {tokens: 2e5}\n");
  for (const auto& run : study.runs) {
    CHECK(run.config.train.steps == 200'000 / (16 * 128));
    CHECK(measure(run.config, MatchBy::kFlops) == Approx(measure(study.base, MatchBy::kFlops)).epsilon(0.02));
  }
}

TEST_CASE("A budget that gives no step, and steps that a budget replaces, are refused",
          "[lab][matching][budget][error][torch]") {
  const std::string arms = "arms: {a: {}, b: {model: {layers: 3}}}\n";
  CHECK_THAT(study_refusal("base: {}\n" + arms + "budget: {tokens: 2047}\n"),
             ContainsSubstring("s.yaml:3: base: budget.tokens: is 2047, which gives no step: one step takes 2048"));
  CHECK_THAT(study_refusal("base: {}\narms:\n  a: {}\n  b: {train: {batch: 64}}\nbudget: {tokens: 5000}\n"),
             ContainsSubstring("s.yaml:5: arms.b: budget.tokens: is 5000, which gives no step"));
  CHECK_THAT(study_refusal("base: {}\narms:\n  a: {}\n  b: {train: {steps: 7}}\nbudget: {tokens: 5000}\n"),
             ContainsSubstring("s.yaml:4: arms.b: train.steps: has no effect; budget sets it"));
  CHECK_THAT(study_refusal("base: {}\n" + arms + "sweep:\n  train.steps: [5, 6]\nbudget: {tokens: 5000}\n"),
             ContainsSubstring("s.yaml:4: sweep.train.steps: has no effect; budget sets it"));
  CHECK_THAT(study_refusal("base: {train: {steps: 9}}\n" + arms + "budget: {tokens: 5000}\n"),
             ContainsSubstring("s.yaml:1: base.train.steps: has no effect; budget sets it"));
  CHECK_THAT(study_refusal("base: {}\n" + arms + "budget: {tokens: 5000}\n", {"train.steps=3"}),
             ContainsSubstring("--set train.steps=3") && ContainsSubstring("has no effect; budget sets train.steps"));
  CHECK_THAT(study_refusal("base: {train: {schedule: {warmup: 3}}}\n" + arms + "budget: {tokens: 5000}\n"),
             ContainsSubstring("s.yaml:3: base: train.schedule.warmup: is above steps, which is 2"));
  CHECK_THAT(study_refusal("base: {}\n" + arms + "budget: {tokens: 5000}\nmatch: {by: tokens}\n"),
             ContainsSubstring("s.yaml:4: match: searches train.steps, which budget sets"));
  CHECK_THAT(study_refusal("base: {}\n" + arms + "budget: {tokens: 0}\n"),
             ContainsSubstring("s.yaml:3: budget.tokens"));
}

}  // namespace blockzoo
