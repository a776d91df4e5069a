#include "blockzoo/infer/induction.h"

#include <numeric>

#include "support/from_yaml.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr int64_t kVocabulary = 20, kContext = 24, kLength = 8;
constexpr int64_t kPlaces = kVocabulary, kBefore = kPlaces + kContext, kWidth = kBefore + kVocabulary;
constexpr double kSharp = 40;  // of the scores, so that a head looks at one key

/// Two layers of two heads by hand. The stream has three parts: the token, one channel each; its place; and the token
/// before it, which head 0 of layer 0 writes there. Head 1 of layer 0 looks kLength - 1 tokens back, whatever they are.
/// Head 0 of layer 1 looks for places behind the token it stands at: an induction head. Its head 1 looks at all alike.
struct HandMade {
  explicit HandMade(const std::string& more = "{}") {
    auto tree = parse_yaml(
        "{vocabulary: 20, width: 64, layers: 2, context: 24, block: {norm: {kind: none}, position: {kind: learned}, "
        "attention: {heads: 2, head_width: 24, scale: 1.0}, ffn: {kind: mlp, hidden: 1}}}",
        "made by hand");
    model = Model(read_config<ModelConfig>(overlay(tree, parse_yaml(more, "more"))));
    const at::NoGradGuard no_grad;
    for (auto& [name, parameter] : parameters_of(*model)) parameter.zero_();
    at("embedding.weight").slice(1, 0, kVocabulary).fill_diagonal_(1);
    at("position.table.weight").slice(1, kPlaces, kBefore).fill_diagonal_(1);
    look_back(0, 1);
    look_back(1, kLength - 1);
    // values are tokens, written where the token before has its channels
    head_rows("blocks.0.attention.value.weight", 0).slice(1, 0, kVocabulary).fill_diagonal_(1);
    at("blocks.0.attention.output.weight").slice(0, kBefore).slice(1, 0, kVocabulary).fill_diagonal_(1);
    match_tokens();
  }

  Tensor at(const std::string& name) { return parameters_of(*model).at(name); }
  Tensor head_rows(const std::string& name, int64_t head) { return at(name).narrow(0, head * kContext, kContext); }

  /// A head of layer 0 whose query at place i finds the key at place i - distance.
  void look_back(int64_t head, int64_t distance) {
    auto query = head_rows("blocks.0.attention.query.weight", head).slice(1, kPlaces, kBefore);
    query.diagonal(distance).fill_(kSharp);  // row j, column j + distance
    head_rows("blocks.0.attention.key.weight", head).slice(1, kPlaces, kBefore).fill_diagonal_(1);
  }
  /// Head 0 of layer 1: queries are tokens, keys are the tokens before, but for place 0, which has none before it.
  void match_tokens() {
    head_rows("blocks.1.attention.query.weight", 0).slice(1, 0, kVocabulary).fill_diagonal_(kSharp);
    auto key = head_rows("blocks.1.attention.key.weight", 0);
    key.slice(1, kBefore).fill_diagonal_(1);
    key.select(1, kPlaces).fill_(-1);
  }

  InductionScores scores(int64_t length = kLength) {
    InductionOptions options{.length = length, .sequences = 4, .ids = {}, .before = {}};
    options.ids.resize(kVocabulary);
    std::iota(options.ids.begin(), options.ids.end(), 0);
    return induction_scores(*model, options);
  }

  Model model{nullptr};
};

std::vector<bool> found(const InductionScores& scores) {
  std::vector<bool> each;
  for (const auto& head : scores.heads) each.push_back(head.found);
  return each;
}

}  // namespace

TEST_CASE("an induction head that was made by hand is found, and no other", "[infer][torch][attend][induction]") {
  HandMade made;
  const auto scores = made.scores();
  REQUIRE(scores.heads.size() == 4);
  CHECK(found(scores) == std::vector<bool>{false, false, true, false});
  const auto &previous = scores.heads[0], &fixed = scores.heads[1], &induction = scores.heads[2],
             &even = scores.heads[3];
  CHECK((induction.layer == 1 && induction.head == 0));
  CHECK(induction.repeat > 0.999);
  CHECK(induction.fresh < 0.5);
  CHECK(previous.on_previous > 0.999);
  CHECK(previous.repeat < 1e-6);
  // Looking back a fixed distance has the score of an induction head of this length, repeat or not.
  CHECK(fixed.repeat > 0.999);
  CHECK(fixed.fresh > 0.999);
  CHECK(even.repeat == Approx(even.chance));
  double chance = 0;
  for (int64_t query = kLength; query < 2 * kLength; ++query) chance += 1.0 / static_cast<double>(query + 1) / kLength;
  CHECK(even.chance == Approx(chance));
}

TEST_CASE("without the head that writes the token before, the same weights are no induction head",
          "[infer][torch][attend][induction]") {
  HandMade made;
  const at::NoGradGuard no_grad;
  made.at("blocks.0.attention.output.weight").zero_();
  const auto scores = made.scores();
  CHECK(found(scores) == std::vector<bool>(4, false));
  CHECK(scores.heads[2].repeat < 0.2);
}

TEST_CASE("a window that is shorter than a sequence hides what an induction head looks for",
          "[infer][torch][attend][induction]") {
  HandMade made("{overrides: [{layers: [1], block: {attention: {window: 5}}}]}");
  const auto scores = made.scores();
  CHECK((scores.heads[0].in_reach && !scores.heads[2].in_reach && !scores.heads[3].in_reach));
  CHECK(scores.heads[2].repeat == 0);
  CHECK(scores.heads[3].chance == Approx(0.2));
  CHECK(found(scores) == std::vector<bool>(4, false));
  CHECK(found(made.scores(5)) == std::vector<bool>{false, false, true, false});
}

TEST_CASE("tokens before the sequences shift nothing, and equal seeds give equal scores",
          "[infer][torch][attend][induction]") {
  HandMade made;
  InductionOptions options{.length = 6, .sequences = 3, .ids = {1, 2, 3, 5, 7, 11, 13, 17}, .before = {0, 19}};
  const auto scores = induction_scores(*made.model, options);
  CHECK(found(scores) == std::vector<bool>{false, false, true, false});
  CHECK(scores.heads[2].repeat > 0.999);
  const auto again = induction_scores(*made.model, options);
  options.seed = 1;
  const auto other = induction_scores(*made.model, options);
  for (size_t head = 0; head < 4; ++head) CHECK(again.heads[head].fresh == scores.heads[head].fresh);
  CHECK(other.heads[2].fresh != scores.heads[2].fresh);
}

TEST_CASE("random sequences are as long as they are asked for, or as fits, and what does not fit is refused",
          "[infer][torch][error][attend][induction]") {
  HandMade made;
  CHECK(made.scores(0).length == 12);  // half the context
  InductionOptions options{.ids = {1, 2, 3, 4, 5}, .before = {}};
  CHECK(induction_scores(*made.model, options).length == 5);
  options.length = 6;
  CHECK_THROWS_WITH(induction_scores(*made.model, options),
                    ContainsSubstring("the 5 tokens that may be drawn allow 5"));
  options.length = 2;
  CHECK_THROWS_WITH(induction_scores(*made.model, options), ContainsSubstring("length must be 3 or more, got 2"));
  options = {.length = 3, .sequences = 0, .ids = {1, 2, 3}, .before = {}};
  CHECK_THROWS_WITH(induction_scores(*made.model, options), ContainsSubstring("sequences must be 1 or more, got 0"));
  options = {.ids = {1, 2}, .before = {}};
  CHECK_THROWS_WITH(induction_scores(*made.model, options), ContainsSubstring("3 is the least"));
  options = {.ids = {1, 2, 3}, .before = {}, .found = 0};
  CHECK_THROWS_WITH(induction_scores(*made.model, options), ContainsSubstring("found must be above 0"));
}

}  // namespace blockzoo
