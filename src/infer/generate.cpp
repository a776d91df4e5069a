#include "blockzoo/infer/generate.h"

#include <ATen/ATen.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "blockzoo/core/hash.h"
#include "blockzoo/infer/kv_cache.h"
#include "blockzoo/nn/eval_scope.h"

namespace blockzoo {
namespace {

using Ids = std::vector<int64_t>;

/// Columns by which a window's memory is longer than it must be, so that it is moved to the front only now and then.
constexpr int64_t kLeastChunk = 32;

void check_options(const GenerateOptions& options) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    if (value < least) throw std::invalid_argument(fmt::format("{} must be {} or more, got {}", name, least, value));
  };
  at_least("tokens", options.tokens, 1);
  at_least("samples", options.samples, 1);
  at_least("chunk", options.chunk, 1);
  if (const auto problem = sampling_problem(options.sampling); !problem.empty()) throw std::invalid_argument(problem);
}

void check_prompt(const Ids& prompt, size_t number, const ModelConfig& config) {
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("prompt {} {}", number + 1, why));
  };
  if (prompt.empty()) refuse("is empty; the model needs a token to begin with");
  if (static_cast<int64_t>(prompt.size()) > config.context)
    refuse(fmt::format("has {} tokens, but the model's context is {}", prompt.size(), config.context));
  for (const auto id : prompt)
    if (id < 0 || id >= config.vocabulary)
      refuse(fmt::format("has the id {}; the model's ids run from 0 to {}", id, config.vocabulary - 1));
}

uint64_t stream_of(uint64_t seed, const Ids& prompt, int64_t sample) {
  auto stream = seed_for(seed, "sampling", static_cast<uint64_t>(sample));
  for (const auto id : prompt) stream = mix(stream ^ static_cast<uint64_t>(id));
  return stream;
}

/// Ids that end together, [B, longest]; where a row has none, 0, which no other row and no later token sees.
Tensor aligned(const std::vector<Ids>& prompts, int64_t longest) {
  const auto rows = static_cast<int64_t>(prompts.size());
  auto tokens = at::zeros({rows, longest}, at::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    const auto& prompt = prompts[static_cast<size_t>(row)];
    std::copy(prompt.begin(), prompt.end(), tokens[row].data_ptr<int64_t>() + longest - std::ssize(prompt));
  }
  return tokens;
}

/// The logits of the token after each row of `tokens` [B, T], which come after what the cache holds: [B, V].
Tensor logits_after(ModelImpl& model, const Tensor& tokens, int64_t chunk, KvCache& cache) {
  Tensor x;
  for (int64_t first = 0; first < tokens.size(1); first += chunk) {
    const auto part = tokens.slice(1, first, first + chunk);
    x = model.hidden(part, cache.next(part.size(1)));
  }
  return model.logits(x.slice(1, -1)).squeeze(1).to(at::kFloat);
}

/// One text on its way.
struct Text {
  size_t number;
  int64_t length;  // with its prompt
  Sampler sampler;
};

/// `samples` texts for each prompt.
std::vector<Text> begin_texts(const std::vector<Ids>& prompts, const GenerateOptions& options) {
  std::vector<Text> texts;
  for (const auto& prompt : prompts) {
    for (int64_t sample = 0; sample < options.samples; ++sample) {
      texts.push_back({texts.size(), std::ssize(prompt), {options.sampling, stream_of(options.seed, prompt, sample)}});
      texts.back().sampler.read(prompt);
    }
  }
  return texts;
}

int64_t choose(Text& text, std::span<const float> logits, const GenerateOptions& options) {
  try {
    return text.sampler.next(logits);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(
        fmt::format("prompt {}: {}", text.number / static_cast<size_t>(options.samples) + 1, error.what()));
  }
}

}  // namespace

std::vector<Continuation> generate(ModelImpl& model, const std::vector<Ids>& prompts, const GenerateOptions& options,
                                   const TokenListener& listener) {
  check_options(options);
  if (prompts.empty()) return {};
  const auto& config = model.config();
  int64_t longest = 0;
  std::vector<int64_t> rows, absent;
  for (size_t prompt = 0; prompt < prompts.size(); ++prompt) {
    check_prompt(prompts[prompt], prompt, config);
    longest = std::max(longest, std::ssize(prompts[prompt]));
    rows.insert(rows.end(), static_cast<size_t>(options.samples), static_cast<int64_t>(prompt));
  }
  for (const auto& prompt : prompts) absent.push_back(longest - std::ssize(prompt));

  const c10::InferenceMode inference;
  const EvalScope eval(model);
  const auto device = model.parameters().front().device();
  const auto columns = std::min(config.context, longest + options.tokens - 1);
  KvCache cache(config, {.columns = columns, .chunk = std::max(options.chunk, kLeastChunk)}, absent, device);
  auto logits = logits_after(model, aligned(prompts, longest).to(device), options.chunk, cache);
  if (options.samples > 1) {
    cache.keep_rows(rows);
    logits = logits.index_select(0, at::tensor(rows, at::kLong).to(device));
  }

  auto texts = begin_texts(prompts, options);
  std::vector<Continuation> done(texts.size());
  while (true) {
    const auto scores = logits.to(at::kCPU).contiguous();  // [B, V]
    const auto log_probabilities = options.log_probabilities ? at::log_softmax(scores, -1, at::kDouble) : Tensor();
    std::vector<int64_t> going, next;
    std::vector<Text> left;
    for (size_t row = 0; row < texts.size(); ++row) {
      auto& text = texts[row];
      auto& continuation = done[text.number];
      const auto at = static_cast<int64_t>(row);
      const auto id = choose(text, {scores[at].const_data_ptr<float>(), static_cast<size_t>(scores.size(1))}, options);
      if (std::find(options.stop_ids.begin(), options.stop_ids.end(), id) != options.stop_ids.end()) {
        continuation.ending = Ending::kStopId;
        continue;
      }
      continuation.ids.push_back(id);
      if (options.log_probabilities) continuation.log_probabilities.push_back(log_probabilities[at][id].item<double>());
      ++text.length;
      if (listener && !listener(text.number, id)) {
        continuation.ending = Ending::kListener;
      } else if (std::ssize(continuation.ids) == options.tokens) {
        continuation.ending = Ending::kTokens;
      } else if (text.length > config.context) {
        continuation.ending = Ending::kContext;
      } else {
        going.push_back(at);
        next.push_back(id);
        left.push_back(std::move(text));
      }
    }
    if (going.empty()) return done;
    if (going.size() < texts.size()) cache.keep_rows(going);
    texts = std::move(left);
    logits = logits_after(model, at::tensor(next, at::kLong).unsqueeze(1).to(device), 1, cache);
  }
}

}  // namespace blockzoo
