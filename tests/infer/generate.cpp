#include "blockzoo/infer/generate.h"

#include "blockzoo/lab/zoo.h"
#include "blockzoo/nn/smaller.h"
#include "infer/step_copies.h"
#include "kernels/processor.h"
#include "kernels/rows/compact_floats.h"
#include "support/from_yaml.h"
#include "support/near.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;
using Prompts = std::vector<std::vector<int64_t>>;

Model untrained_model(const ModelConfig& config) {
  Model model(config);
  model->init_parameters(5);
  const at::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.mul_(parameter.dim() == 2 ? 3 : 1);
  return model;
}

Model small_model(const std::string& more = "") {
  return untrained_model(
      from_yaml<ModelConfig>("{vocabulary: 19, width: 16, layers: 2, context: 32, block: {attention: "
                             "{heads: 4, kv_heads: 2}" +
                             more + "}}"));
}

std::vector<int64_t> some_ids(int64_t length, int64_t vocabulary) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < length; ++i) ids.push_back((7 * i + i * i) % vocabulary);
  return ids;
}

/// Every id is the one with the largest logit of a forward without a cache, up to the rounding of logits.
void check_greedy(Model& model, std::vector<int64_t> prompt, const std::vector<int64_t>& ids) {
  const at::NoGradGuard no_grad;
  model->eval();
  const auto before = std::ssize(prompt);
  prompt.insert(prompt.end(), ids.begin(), ids.end() - 1);
  const auto logits = model->forward(at::tensor(prompt, at::kLong).unsqueeze(0))[0].slice(0, before - 1);
  const auto chosen = logits.gather(1, at::tensor(ids, at::kLong).unsqueeze(1)).squeeze(1);
  check_near("logit of each chosen id", chosen, logits.amax(1), {1e-4, 1e-4});
}

const GenerateOptions kGreedy{.tokens = 20, .sampling = {.temperature = 0}};

}  // namespace

TEST_CASE(
    "every model of the zoo, made tiny, continues greedily as its full forward says, for prompts below and above "
    "its windows",
    "[infer][torch][contract][slow]") {
  for (const auto& zoo_entry : zoo()) {
    INFO(zoo_entry.name);
    const auto config = tiny(zoo_entry.config.model);
    auto model = untrained_model(config);
    int64_t window = 4;
    for (const auto& layer : expand_layers(config))
      window = std::max(window, std::visit([](const auto& attention) { return attention.window; }, layer.attention));
    Prompts prompts;
    for (const auto length : {int64_t{1}, window - 1, window, window + 3}) prompts.push_back(some_ids(length, 256));
    auto options = kGreedy;
    options.tokens = 40;
    options.chunk = 5;
    const auto done = generate(*model, prompts, options);
    REQUIRE(done.size() == 4);
    for (size_t i = 0; i < 4; ++i) {
      INFO("prompt of " << prompts[i].size());
      REQUIRE_FALSE(done[i].ids.empty());
      check_greedy(model, prompts[i], done[i].ids);
    }
  }
}

TEST_CASE("a prompt is continued in a batch as it is alone, greedily and drawn, whatever the chunks",
          "[infer][torch][contract]") {
  for (const std::string position : {"rope", "learned", "alibi", "relative_bias"}) {
    auto model = small_model(", position: {kind: " + position + "}");
    const Prompts prompts{some_ids(3, 19), some_ids(11, 19), {4}, some_ids(11, 19)};
    for (const double temperature : {0.0, 1.0}) {
      INFO(position << ", temperature " << temperature);
      GenerateOptions options{.tokens = 15, .samples = 2, .chunk = 4, .sampling = {.temperature = temperature}};
      const auto together = generate(*model, prompts, options);
      REQUIRE(together.size() == 8);
      CHECK(together[2].ids == together[6].ids);  // the same prompt twice
      CHECK((together[0].ids == together[1].ids) == (temperature == 0));
      for (size_t i = 0; i < prompts.size(); ++i) {
        for (const int64_t chunk : {1, 3, 100}) {
          options.chunk = chunk;
          const auto alone = generate(*model, {prompts[i]}, options);
          CHECK(alone[0].ids == together[2 * i].ids);
          CHECK(alone[1].ids == together[2 * i + 1].ids);
        }
      }
    }
  }
}

TEST_CASE("a text depends on its seed, and every seed is one", "[infer][torch][contract]") {
  auto model = small_model();
  const auto text = [&](uint64_t seed) { return generate(*model, {{1, 2}}, {.tokens = 25, .seed = seed})[0].ids; };
  const std::vector<uint64_t> seeds{0, 1, (1ULL << 63) - 1, ~0ULL};
  for (const auto a : seeds)
    for (const auto b : seeds) CHECK((text(a) == text(b)) == (a == b));
}

TEST_CASE("a text ends at the model's context, also when others go on", "[infer][torch][contract]") {
  for (const std::string position : {"rope", "learned", "alibi", "relative_bias"}) {
    INFO(position);
    auto model = small_model(", position: {kind: " + position + "}");
    const Prompts prompts{some_ids(30, 19), some_ids(32, 19), some_ids(5, 19)};
    auto options = kGreedy;
    const auto done = generate(*model, prompts, options);
    CHECK(done[0].ids.size() == 3);
    CHECK(done[0].ending == Ending::kContext);
    CHECK(done[1].ids.size() == 1);
    CHECK(done[1].ending == Ending::kContext);
    CHECK(done[2].ids.size() == 20);
    CHECK(done[2].ending == Ending::kTokens);
    for (size_t i = 0; i < 3; ++i) check_greedy(model, prompts[i], done[i].ids);
    options.tokens = 100;
    CHECK(generate(*model, {prompts[2]}, options)[0].ids.size() == 28);
  }
}

TEST_CASE("a text ends before a stop id and where its listener says so", "[infer][torch][contract]") {
  auto model = small_model();
  const Prompts prompts{some_ids(4, 19), some_ids(6, 19)};
  auto options = kGreedy;
  const auto whole = generate(*model, prompts, options);
  options.stop_ids = {whole[0].ids[7]};
  const auto stopped = generate(*model, prompts, options);
  const auto first = std::find(whole[0].ids.begin(), whole[0].ids.end(), whole[0].ids[7]);
  CHECK(stopped[0].ending == Ending::kStopId);
  CHECK(stopped[0].ids == std::vector<int64_t>(whole[0].ids.begin(), first));

  std::vector<std::vector<int64_t>> heard(2);
  const auto ended = generate(*model, prompts, kGreedy, [&](size_t text, int64_t id) {
    heard[text].push_back(id);
    return text == 1 || heard[0].size() < 3;
  });
  CHECK(ended[0].ending == Ending::kListener);
  CHECK(ended[0].ids == std::vector<int64_t>(whole[0].ids.begin(), whole[0].ids.begin() + 3));
  CHECK(ended[1].ids == whole[1].ids);
  CHECK(heard[0] == ended[0].ids);
  CHECK(heard[1] == ended[1].ids);
}

TEST_CASE("the log-probabilities are the model's, whatever the sampling", "[infer][torch][contract]") {
  auto model = small_model();
  const auto prompt = some_ids(4, 19);
  const auto done =
      generate(*model, {prompt}, {.tokens = 9, .sampling = {.temperature = 3, .top_k = 4}, .log_probabilities = true});
  auto ids = prompt;
  ids.insert(ids.end(), done[0].ids.begin(), done[0].ids.end());
  const at::NoGradGuard no_grad;
  const auto all = at::log_softmax(model->forward(at::tensor(ids, at::kLong).unsqueeze(0))[0], -1);
  std::vector<float> expected;
  for (int64_t i = 4; i < 13; ++i) expected.push_back(all[i - 1][ids[static_cast<size_t>(i)]].item<float>());
  check_near("log-probabilities", at::tensor(done[0].log_probabilities), at::tensor(expected), {1e-4, 1e-4});
}

TEST_CASE("generation drops nothing and leaves the model's mode as it was", "[infer][torch][contract]") {
  auto model = small_model(", dropout: 0.5");
  model->train();
  const auto once = generate(*model, {{1, 2, 3}}, kGreedy);
  CHECK(model->is_training());
  CHECK(once[0].ids == generate(*model, {{1, 2, 3}}, kGreedy)[0].ids);
  check_greedy(model, {1, 2, 3}, once[0].ids);
}

TEST_CASE("what cannot be continued is refused, and the prompt is named", "[infer][torch][error]") {
  auto model = small_model();
  const auto refusal = [&](const Prompts& prompts, const GenerateOptions& options = kGreedy) {
    std::string message = "accepted";
    try {
      generate(*model, prompts, options);
    } catch (const std::exception& error) {
      message = error.what();
    }
    return message;
  };
  CHECK_THAT(refusal({{1}, {}}), ContainsSubstring("prompt 2 is empty"));
  CHECK(refusal({some_ids(40, 19)}) == "prompt 1 has 40 tokens, but the model's context is 32");
  CHECK_THAT(refusal({{1, 19}}), ContainsSubstring("prompt 1 has the id 19; the model's ids run from 0 to 18"));
  CHECK_THAT(refusal({{-1}}), ContainsSubstring("the id -1"));
  CHECK(refusal({{1}}, {.tokens = 0}) == "tokens must be 1 or more, got 0");
  CHECK(refusal({{1}}, {.chunk = 0}) == "chunk must be 1 or more, got 0");
  CHECK(refusal({{1}}, {.samples = -1}) == "samples must be 1 or more, got -1");
  CHECK(refusal({{1}}, {.sampling = {.top_p = 2}}) == "top_p must be from 0 to 1, got 2");
  CHECK(generate(*model, {}, kGreedy).empty());
  const at::NoGradGuard no_grad;
  model->named_parameters()["embedding.weight"][3].fill_(NAN);
  CHECK_THAT(refusal({{1}, {3}}),
             ContainsSubstring("prompt 2: the model's logit of token") && ContainsSubstring("NaN"));
}

TEST_CASE("Greedy tokens are the same where only the largest logits are computed", "[infer][torch][fast]") {
  const std::string sizes = "vocabulary: 2048, width: 512, layers: 1, context: 48, block: {attention: {heads: 8}}";
  for (const std::string more : {"", ", tied: true", ", head_bias: true"}) {
    for (const auto type : {at::kFloat, at::kBFloat16}) {
      INFO(type << more);
      auto model = untrained_model(from_yaml<ModelConfig>("{" + sizes + more + "}"));
      model->to(type);
      CHECK(model->largest_logits());
      auto options = kGreedy;
      const auto ids = generate(*model, {{1, 2, 3}}, options)[0].ids;
      options.log_probabilities = true;  // needs all logits
      CHECK(ids == generate(*model, {{1, 2, 3}}, options)[0].ids);
    }
  }
  CHECK_FALSE(untrained_model(from_yaml<ModelConfig>("{" + sizes + ", final_softcap: 30}"))->largest_logits());
  CHECK_FALSE(small_model()->largest_logits());
}

TEST_CASE("Tokens are the same where steps read compact copies, greedily and drawn", "[infer][torch][fast]") {
  const std::string sizes = "{vocabulary: 512, width: 256, layers: 2, context: 96, block: {attention: {heads: 8}}}";
  const bool worth_floats = rows::compacts_floats() && processor_is_avx512_amd();
  // Bfloat16 numbers in both precisions, and float32 numbers of their own.
  for (const auto& [held, type, compact] : {std::tuple{at::kBFloat16, at::kFloat, rows::compacts()},
                                            {at::kBFloat16, at::kBFloat16, rows::compacts()},
                                            {at::kFloat, at::kFloat, worth_floats}}) {
    for (const double temperature : {0.0, 1.0}) {
      INFO(held << " as " << type << " at temperature " << temperature);
      auto model = untrained_model(from_yaml<ModelConfig>(sizes));
      model->to(held);
      model->to(type);
      const GenerateOptions options{.tokens = 80, .sampling = {.temperature = temperature}};
      const StepCopies copies(*model, options, 1);
      const auto head = copies.largest() != nullptr ? copies.largest()->saved_bytes() : 0;
      CHECK((copies.saved_bytes() > head) == compact);
      CHECK((copies.words().find(" matrices without loss in ") != std::string::npos) == compact);
      const auto alone = generate(*model, {{1, 2, 3}}, options)[0].ids;
      CHECK(alone == generate(*model, {{1, 2, 3}, {4, 5, 6}}, options)[0].ids);  // two texts read the matrices
    }
  }
  const auto model = untrained_model(from_yaml<ModelConfig>(sizes));
  CHECK(StepCopies(*model, {.tokens = 80}, 2).saved_bytes() == 0);
  const StepCopies none(*model, {.tokens = 8}, 1);
  CHECK(none.saved_bytes() == 0);
  CHECK(none.words() == "none");
}

}  // namespace blockzoo
