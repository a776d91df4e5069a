#include "blockzoo/lab/study.h"
#include "blockzoo/nn/model.h"
#include "support/catch.h"
#include "support/study_text.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

std::vector<std::string> arms(const Study& study) {
  std::vector<std::string> names;
  for (const auto& run : study.runs) {
    if (names.empty() || names.back() != run.arm) names.push_back(run.arm);
  }
  return names;
}

std::vector<std::string> changed(const Study& study, const std::string& arm) {
  for (const auto& run : study.runs) {
    if (run.arm != arm) continue;
    std::vector<std::string> paths;
    for (const auto& difference : run.differences) paths.push_back(difference.path);
    return paths;
  }
  return {};
}

using Names = std::vector<std::string>;

const std::string kParts = R"(
  layer_norm: {model: {block: {norm: {kind: layer_norm}}}}
  mlp: {model: {block: {ffn: {kind: mlp, activation: gelu}}}}
  learned: {model: {block: {position: {kind: learned}}}}
)";

}  // namespace

TEST_CASE("Additions are the base with each part alone, held against the base", "[lab][design][torch]") {
  const auto study = study_of("base: {}\nadditions:" + kParts);
  CHECK(arms(study) == Names{"base", "layer_norm", "mlp", "learned"});
  CHECK(changed(study, "base").empty());
  CHECK(changed(study, "mlp") == Names{"model.block.ffn"});
  CHECK(changed(study, "learned") == Names{"model.block.position"});
}

TEST_CASE("Leaving one out holds the recipe without each part against the whole recipe", "[lab][design][torch]") {
  const auto study =
      study_of("base: {}\nleave_one_out:" + kParts + "hypothesis: {arm: recipe, better_than: without_mlp}\n");
  CHECK(arms(study) == Names{"recipe", "without_layer_norm", "without_mlp", "without_learned"});
  CHECK(std::holds_alternative<LayerNormConfig>(study.base.model.block.norm));
  CHECK(std::holds_alternative<MlpConfig>(study.base.model.block.ffn));
  CHECK(changed(study, "without_mlp") == Names{"model.block.ffn"});
  for (const auto& run : study.runs) {
    if (run.arm != "without_mlp") continue;
    CHECK(std::holds_alternative<GluConfig>(run.config.model.block.ffn));
    CHECK(std::holds_alternative<LayerNormConfig>(run.config.model.block.norm));
  }
}

TEST_CASE("What is left out is matched to the recipe and not to the plain base", "[lab][design][matching][torch]") {
  const auto study =
      study_of("base: {model: {width: 32, layers: 1}}\nmatch: {by: parameters}\nleave_one_out:" + kParts);
  const auto recipe = static_cast<double>(count_parameters(study.base.model).total);
  for (const auto& run : study.runs)
    CHECK(static_cast<double>(count_parameters(run.config.model).total) == Approx(recipe).epsilon(0.02));
}

TEST_CASE("A factorial study has every combination of levels, first levels first", "[lab][design][torch]") {
  const auto study = study_of(R"(
base: {}
factorial:
  layout: {pre: {}, post: {model: {block: {layout: {kind: post_norm}}}}, double: {model: {block: {layout: {kind: double_norm}}}}}
  warmup: {long: {train: {schedule: {warmup: 40}}}, none: {train: {schedule: {warmup: 0}}}}
seeds: [0, 1]
)");
  CHECK(arms(study) == Names{"pre+long", "pre+none", "post+long", "post+none", "double+long", "double+none"});
  CHECK(study.runs.size() == 12);
  CHECK((study.factors == std::vector<Factor>{{"layout", {"pre", "post", "double"}}, {"warmup", {"long", "none"}}}));
  CHECK(changed(study, "pre+long").empty());  // the first levels are the base, also where they set something
  CHECK(changed(study, "pre+none") == Names{"train.schedule.warmup"});
  CHECK(changed(study, "post+none") == Names{"model.block.layout", "train.schedule.warmup"});
}

TEST_CASE("The order of parts does not matter, also where one sets a kind and another a key of it",
          "[lab][design][torch]") {
  const std::string kind = "  mlp: {model: {block: {ffn: {kind: mlp}}}}\n";
  const std::string key = "  relu: {model: {block: {ffn: {activation: relu}}}}\n";
  for (const auto& parts : {kind + key, key + kind}) {
    const auto study = study_of("base: {}\nleave_one_out:\n" + parts);
    const auto* mlp = std::get_if<MlpConfig>(&study.base.model.block.ffn);
    REQUIRE(mlp != nullptr);
    CHECK(mlp->activation == Activation::kRelu);
  }
}

TEST_CASE("Mistakes in a design name the line, the part and what is allowed", "[lab][design][error][torch]") {
  CHECK_THAT(study_refusal("base: {}\narms: {a: {}}\nadditions: {b: {}}\n"),
             ContainsSubstring("one of arms, additions, leave_one_out and factorial must say what is compared"));
  CHECK_THAT(study_refusal("base: {}\n"), ContainsSubstring("one of arms, additions, leave_one_out and factorial"));
  CHECK_THAT(study_refusal("base: {}\nleave_one_out: []\n"),
             ContainsSubstring("s.yaml:2: leave_one_out: must be a map"));
  CHECK_THAT(study_refusal("base: {}\nleave_one_out:\n  a: {model: {width: 64}}\n  b: {model: {width: 32}}\n"),
             ContainsSubstring("s.yaml:4: leave_one_out.b: sets model.width, which leave_one_out.a sets to another"));
  CHECK_THAT(study_refusal("base: {}\nfactorial: {one: {a: {}, b: {model: {width: 64}}}}\n"),
             ContainsSubstring("factorial: needs two factors at least; one factor is `arms`"));
  CHECK_THAT(study_refusal("base: {}\nfactorial: {one: {a: {}}, two: {a: {}, b: {model: {width: 64}}}}\n"),
             ContainsSubstring("factorial.one: must name two levels at least"));
  CHECK_THAT(study_refusal("base: {}\nadditions: {'a b': {}}\n"),
             ContainsSubstring("additions.a b: a name must be made of"));
  CHECK_THAT(study_refusal("base: {}\nadditions: {a: {}}\n"),
             ContainsSubstring("additions.a: is the same as arm base"));
  CHECK_THAT(study_refusal("base: {}\nadditions: {base: {model: {width: 64}}}\n"),
             ContainsSubstring("additions.base: is not the base"));
}

TEST_CASE("One mistake in a level is told once, and not by each arm that has it", "[lab][design][error][torch]") {
  const auto text = study_refusal(R"(base: {}
factorial:
  layout: {pre: {}, post: {model: {block: {layout: {kind: post_nrm}}}}}
  width: {small: {}, large: {model: {width: 256}}}
)");
  CHECK_THAT(text, ContainsSubstring("s.yaml:3:") && ContainsSubstring("post_nrm"));
  CHECK(text.find("post_nrm") == text.rfind("post_nrm"));
}

}  // namespace blockzoo
