#pragma once

#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "blockzoo/infer/sampling.h"
#include "blockzoo/nn/model.h"

namespace blockzoo {

struct GenerateOptions {
  int64_t tokens = 100;           // most new tokens of a text
  int64_t samples = 1;            // texts from each prompt
  int64_t chunk = 256;            // tokens of the prompts that are read at a time
  Sampling sampling;              // of each token
  uint64_t seed = 0;              // a text's random numbers depend on this, its prompt and its sample's number alone
  std::vector<int64_t> stop_ids;  // a text ends before one of these
  bool log_probabilities = false;
};

/// Why a text ended: all tokens wanted, a stop id, the model's context is full, or the listener said so.
enum class Ending { kTokens, kStopId, kContext, kListener };

constexpr auto names(Ending) {
  using enum Ending;
  return std::to_array<std::pair<Ending, std::string_view>>(
      {{kTokens, "tokens"}, {kStopId, "stop_id"}, {kContext, "context"}, {kListener, "listener"}});
}

/// What follows a prompt.
struct Continuation {
  std::vector<int64_t> ids;
  std::vector<double> log_probabilities;  // of each id by the model, ln softmax(logits); empty unless wanted
  Ending ending = Ending::kTokens;
};

/// Hears each new token of text `text`, which is sample s of prompt p for text = p samples + s, and says whether the
/// text goes on.
using TokenListener = std::function<bool(size_t text, int64_t id)>;

/// Continues prompts of any lengths together, with keys and values kept (KvCache). A text is the same, up to the
/// rounding of its logits, whatever else is in the batch. The model reads at most its context: a prompt of as many
/// tokens gets one new one. The model's mode is evaluation meanwhile, and no gradient is kept. Errors:
/// std::runtime_error that names the prompt: it is empty, longer than the context, or has an id outside the
///         vocabulary; a logit is no number. std::invalid_argument for options out of range.
std::vector<Continuation> generate(ModelImpl& model, const std::vector<std::vector<int64_t>>& prompts,
                                   const GenerateOptions& options, const TokenListener& listener = {});

}  // namespace blockzoo
