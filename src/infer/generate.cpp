#include "blockzoo/infer/generate.h"

#include <ATen/ATen.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

#include "blockzoo/core/hash.h"
#include "blockzoo/infer/kv_cache.h"
#include "blockzoo/nn/eval_scope.h"
#include "infer/prompt_check.h"
#include "infer/step_copies.h"

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

/// Logits [B, n] on the CPU, and the tokens they are of: all of them where none is named.
struct Logits {
  Tensor values;
  std::vector<int64_t> tokens;
};

/// The logits of the token after each row of `tokens` [B, T], which come after what the cache holds.
Logits logits_after(ModelImpl& model, const Tensor& tokens, int64_t chunk, KvCache& cache,
                    const LargestOutputs* largest = nullptr) {
  Tensor x;
  for (int64_t first = 0; first < tokens.size(1); first += chunk) {
    const auto part = tokens.slice(1, first, first + chunk);
    x = model.hidden(part, cache.next(part.size(1)));
  }
  const auto last = x.slice(1, -1);
  if (largest == nullptr) return {model.logits(last).squeeze(1).to(at::kFloat).to(at::kCPU).contiguous(), {}};
  auto some = model.logits(last, *largest);
  return {some.values.unsqueeze(0).to(at::kFloat), std::move(some.numbers)};
}

/// One text on its way.
struct Text {
  size_t number;
  int64_t length;  // with its prompt
  Sampler sampler;
};

/// The texts that have not ended, a row of the batch each, and what all have so far.
class Texts {
 public:
  Texts(const std::vector<Ids>& prompts, const GenerateOptions& options, const TokenListener& listener, int64_t context)
      : options_(options), listener_(listener), context_(context) {
    for (const auto& prompt : prompts) {
      for (int64_t sample = 0; sample < options.samples; ++sample) {
        rows_.push_back(
            {rows_.size(), std::ssize(prompt), {options.sampling, stream_of(options.seed, prompt, sample)}});
        rows_.back().sampler.read(prompt);
      }
    }
    done_.resize(rows_.size());
  }

  /// The next token of each text by its logits, and the rows of those that go on after it.
  struct Step {
    std::vector<int64_t> rows, tokens;
  };
  Step step(const Logits& logits) {
    const auto log_probabilities =
        options_.log_probabilities ? at::log_softmax(logits.values, -1, at::kDouble) : Tensor();
    Step step;
    std::vector<Text> going;
    for (int64_t row = 0; row < logits.values.size(0); ++row) {
      auto& text = rows_[static_cast<size_t>(row)];
      const auto chosen = choose(text, logits.values[row]);
      const auto id = logits.tokens.empty() ? chosen : logits.tokens[static_cast<size_t>(chosen)];
      const auto ending = add(text, id, log_probabilities.defined() ? log_probabilities[row] : Tensor());
      if (ending) {
        done_[text.number].ending = *ending;
        continue;
      }
      step.rows.push_back(row);
      step.tokens.push_back(id);
      going.push_back(std::move(text));
    }
    rows_ = std::move(going);
    return step;
  }

  std::vector<Continuation> done() && { return std::move(done_); }

 private:
  int64_t choose(Text& text, const Tensor& logits) const {
    try {
      return text.sampler.next({logits.const_data_ptr<float>(), static_cast<size_t>(logits.numel())});
    } catch (const std::runtime_error& error) {
      const auto prompt = text.number / static_cast<size_t>(options_.samples);
      throw std::runtime_error(fmt::format("prompt {}: {}", prompt + 1, error.what()));
    }
  }

  /// Why the text ends before or with this token, if it does.
  std::optional<Ending> add(Text& text, int64_t id, const Tensor& log_probabilities) {
    if (std::find(options_.stop_ids.begin(), options_.stop_ids.end(), id) != options_.stop_ids.end())
      return Ending::kStopId;
    auto& continuation = done_[text.number];
    continuation.ids.push_back(id);
    if (log_probabilities.defined()) continuation.log_probabilities.push_back(log_probabilities[id].item<double>());
    ++text.length;
    if (listener_ && !listener_(text.number, id)) return Ending::kListener;
    if (std::ssize(continuation.ids) == options_.tokens) return Ending::kTokens;
    return text.length > context_ ? std::optional(Ending::kContext) : std::nullopt;
  }

  const GenerateOptions& options_;
  const TokenListener& listener_;
  const int64_t context_;
  std::vector<Text> rows_;
  std::vector<Continuation> done_;
};

}  // namespace

std::vector<Continuation> generate(ModelImpl& model, const std::vector<Ids>& prompts, const GenerateOptions& options,
                                   const TokenListener& listener) {
  check_options(options);
  if (prompts.empty()) return {};
  const auto& config = model.config();
  int64_t longest = 0;
  std::vector<int64_t> absent, rows;
  for (size_t prompt = 0; prompt < prompts.size(); ++prompt) {
    check_prompt(prompts[prompt], fmt::format("prompt {}", prompt + 1), config);
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
    logits.values = logits.values.index_select(0, at::tensor(rows, at::kLong));
  }
  const StepCopies copies(model, options, std::ssize(rows));
  Texts texts(prompts, options, listener, config.context);
  while (true) {
    const auto step = texts.step(logits);
    if (step.rows.empty()) return std::move(texts).done();
    if (std::ssize(step.rows) < logits.values.size(0)) cache.keep_rows(step.rows);
    logits =
        logits_after(model, at::tensor(step.tokens, at::kLong).unsqueeze(1).to(device), 1, cache, copies.largest());
  }
}

}  // namespace blockzoo
