#include "blockzoo/lab/effect.h"

#include "blockzoo/hub/atomic_file.h"
#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

constexpr auto kBase =
    "base: {model: {width: 16, layers: 2, context: 16, block: {attention: {heads: 2}}}, data: {corpus: {kind: stories, "
    "train_stories: 8, validation_stories: 2}, validation_windows: 4}, train: {steps: 8, batch: 2, device: cpu, "
    "threads: 1, schedule: {kind: constant, warmup: 0}}}\narms:\n  base: {}\n";

std::vector<Effect> effects(const std::string& arm) {
  const TemporaryFolder folder;
  return effects_of(load_study(folder.write("study.yaml", kBase + ("  arm: " + arm + "\n"))));
}

}  // namespace

TEST_CASE("What an arm changes before training is told apart", "[lab][effect][torch]") {
  const auto gain = effects("{model: {block: {attention: {qk_norm: {kind: head}}}}}").at(0);
  CHECK(gain.arm == "arm");
  CHECK(gain.model);
  CHECK(gain.added == 2 * 2 * 8);
  CHECK(gain.dropped == 0);
  CHECK(gain.redrawn == 0);
  CHECK(*gain.logits > 0);
  CHECK(gain.acts());

  const auto narrow = effects("{model: {block: {ffn: {hidden: 24}}}}").at(0);
  CHECK(narrow.added > 0);
  CHECK(narrow.dropped > narrow.added);

  const auto layout = effects("{model: {block: {layout: {kind: post_norm}}}}").at(0);
  CHECK(layout.added + layout.dropped + layout.redrawn == 0);
  CHECK(*layout.logits > 0);

  const auto draw = effects("{model: {init: {matrices: {kind: normal, std: 0.3}}}}").at(0);
  CHECK(draw.redrawn > 0);
  CHECK(draw.added + draw.dropped == 0);

  const auto dropout = effects("{model: {block: {dropout: 0.5}}}").at(0);
  CHECK(*dropout.logits > 0);

  const auto wide = effects("{model: {vocabulary: 300}}").at(0);
  CHECK_FALSE(wide.logits);
}

TEST_CASE("FLOPs of a training step that differ are said, and are not an effect by themselves",
          "[lab][effect][flops][torch]") {
  const auto narrow = effects("{model: {block: {ffn: {hidden: 21}}}}").at(0);  // the base's is 42
  REQUIRE(narrow.flops);
  // Multiply-adds of a token: 4 D^2 of attention's matrices, 2 T D of its pairs, 3 D F of the GLU, D V of the head.
  const double rest = 2 * (4 * 16 * 16 + 2 * 16 * 16) + 16 * 256;
  CHECK(*narrow.flops == Approx((rest + 2 * 3 * 16 * 21) / (rest + 2 * 3 * 16 * 42)));
  CHECK_THAT(narrow.in_words(), EndsWith("; a training step takes 0.82 times the base's FLOPs"));
  const auto batch = effects("{train: {batch: 4}}").at(0);
  CHECK(*batch.flops == 2);
  const auto layout = effects("{model: {block: {layout: {kind: post_norm}}}}").at(0);
  CHECK(*layout.flops == 1);
  CHECK_THAT(layout.in_words(), !ContainsSubstring("FLOPs"));

  const Effect cost{.arm = "cost", .model = true, .logits = 0, .flops = 1.5};
  CHECK_FALSE(cost.acts());
  CHECK(cost.in_words() == "nothing differs up to the first update; a training step takes 1.5 times the base's FLOPs");
  CHECK_THROWS_WITH(refuse_without_effect({cost}, "s.yaml"), StartsWith("s.yaml: arms.cost: changes nothing"));
}

TEST_CASE("An arm of training only is known by its first update, and never refused", "[lab][effect][torch]") {
  const auto rate = effects("{train: {optimizer: {lr: 0.5}}}");
  CHECK_FALSE(rate.at(0).model);
  CHECK(*rate.at(0).logits == 0);
  CHECK(rate.at(0).first_update);
  const auto later = effects("{train: {steps: 9}}");
  CHECK_FALSE(later.at(0).acts());
  CHECK_NOTHROW(refuse_without_effect(later, "s.yaml"));
}

TEST_CASE("An arm whose option cannot act is refused by name", "[lab][effect][error][torch]") {
  const auto window = effects("{model: {block: {attention: {window: 16}}}}");  // as long as the context
  CHECK(window.at(0).model);
  CHECK_FALSE(window.at(0).acts());
  CHECK_THROWS_WITH(refuse_without_effect(window, "s.yaml"),
                    StartsWith("s.yaml: arms.arm: changes nothing: parameters, logits"));
}

TEST_CASE("Effects are read back as they were written", "[lab][effect][torch]") {
  const TemporaryFolder folder;
  CHECK(read_effects(folder.path()).empty());
  auto written = effects("{model: {block: {attention: {qk_norm: {kind: head}}}}}");
  written.push_back({.arm = "other", .model = true, .added = 1, .dropped = 2, .redrawn = 3});
  write_effects(folder.path(), written);
  CHECK_THAT(read_file(folder / "effects.json"), ContainsSubstring("\"flops\": 1"));
  const auto read = read_effects(folder.path());
  REQUIRE(read.size() == 2);
  CHECK(*read[0].logits == *written[0].logits);
  CHECK(read[0].flops == written[0].flops);
  CHECK_FALSE(read[1].flops);
  CHECK(read[0].in_words() == written[0].in_words());
  CHECK_FALSE(read[1].logits);
  CHECK(read[1].in_words() ==
        "1 parameters that the base lacks; 2 of the base's parameters gone; 3 shared parameters start at other values; "
        "logits of another shape");

  folder.write("effects.json", R"([{"arm": "old", "model": true, "added": 0, "dropped": 0, "redrawn": 0,
    "logits": 0.5, "first_update": true}])");
  CHECK(read_effects(folder.path()).at(0).in_words() == "logits at step 0 differ by up to 0.5");
}

}  // namespace blockzoo
