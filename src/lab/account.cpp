#include "blockzoo/lab/account.h"

#include <algorithm>
#include <cmath>

#include "lab/traced_update.h"
#include "nn/norm_count.h"

namespace blockzoo {
namespace {

constexpr double kFloat32Bytes = 4, kBfloat16Bytes = 2;

double bytes_of_value(Precision precision) { return precision == Precision::kFloat32 ? kFloat32Bytes : kBfloat16Bytes; }

/// 1 where a norm writes an output of its own.
double written(const NormConfig& norm) { return std::holds_alternative<NoNormConfig>(norm) ? 0 : 1; }

/// Values that one token adds to what a layer keeps.
struct AttentionValues {
  double query, keys_values, result;  // as they are computed
  double cached;                      // for later tokens
  double heads;
};

struct AttentionValueCounter {
  int64_t model;

  AttentionValues operator()(const SoftmaxAttentionConfig& attention) const {
    const auto width = static_cast<double>(attention.width_of_head(model));
    const auto heads = static_cast<double>(attention.heads), groups = static_cast<double>(attention.key_heads());
    const bool own = !attention.reuse_keys_values;
    const bool normed = !std::holds_alternative<NoQkNormConfig>(attention.qk_norm);
    const double key_norm = normed && own ? groups * width : 0, query_norm = normed ? heads * width : 0;
    const double value_norm = own ? written(attention.value_norm) * groups * width : 0;
    const double projected = own ? (attention.keys_as_values ? 1 : 2) * groups * width : 0;
    return {.query = heads * width + query_norm,
            .keys_values = projected + key_norm + value_norm,
            .result = heads * width,
            .cached = own ? 2 * groups * width : 0,
            .heads = heads};
  }

  AttentionValues operator()(const LatentAttentionConfig& attention) const {
    const auto heads = static_cast<double>(attention.heads);
    const auto latent = static_cast<double>(attention.latent_width(model));
    const auto still = static_cast<double>(attention.still_width(model));
    const auto rotary = static_cast<double>(attention.rotary_width(model));
    const auto value = static_cast<double>(attention.width_of_value(model));
    const auto rank = static_cast<double>(attention.query_rank);
    const bool own = !attention.reuse_keys_values;
    const double normed = 1 + written(attention.latent_norm);
    const double values = heads * value * (1 + written(attention.value_norm));
    return {.query = heads * (still + rotary) + rank * normed,
            .keys_values = own ? latent * normed + rotary + heads * still + values : 0,
            .result = heads * value,
            .cached = own ? latent + rotary : 0,
            .heads = heads};
  }
};

double hidden_values(const GluConfig& ffn, double hidden) {
  return (ffn.activation == Activation::kIdentity ? 3 : 4) * hidden;  // gate, its activation, up, product
}
double hidden_values(const MlpConfig& ffn, double hidden) {
  return (ffn.activation == Activation::kIdentity ? 1 : 2) * hidden;
}

/// Values that a layer keeps for each token in training, beside scores.
double kept_values(const BlockConfig& block, int64_t model) {
  const auto width = static_cast<double>(model);
  const auto attention = std::visit(AttentionValueCounter{model}, block.attention);
  const auto ffn = std::visit(
      [&]<class Kind>(const Kind& kind) {
        return hidden_values(kind, static_cast<double>(kind.resolve(model, Kind::default_ratio)));
      },
      block.ffn);
  return norm_count(block.layout) * written(block.norm) * width + attention.query + attention.keys_values +
         attention.result + width + ffn + width;
}

double window_of_layer(const BlockConfig& block, double context) {
  const auto window = std::visit([](const auto& attention) { return attention.window; }, block.attention);
  return window == 0 ? context : std::min(static_cast<double>(window), context);
}

TraceSettings trace_settings(const Account& account, int64_t batch) {
  return {.batch = static_cast<double>(batch),
          .length = static_cast<double>(account.context),
          .precision = account.query.precision,
          .kernels = account.query.kept == KeptActivations::kFused ? Kernels::kFast : Kernels::kReference};
}

UpdateMemory update_memory(const Account& account) {
  const auto fixed = fixed_memory(account.model, static_cast<double>(account.query.optimizer));
  const auto traced = traced_update(account.model, fixed, trace_settings(account, account.query.batch));
  return {.weights = fixed.parameters,
          .gradients = fixed.parameters,
          .moments = fixed.moments,
          .tables = fixed.tables,
          .kept = traced.kept,
          .peak = traced.peak,
          .moment = traced.moment};
}

/// Operations for the last of `tokens` tokens, all before it known.
double last_token_flops(const ModelConfig& model, int64_t tokens) {
  const auto all = forward_flops(model, tokens, AttentionPairs::kVisible).total();
  return tokens == 1 ? all : all - forward_flops(model, tokens - 1, AttentionPairs::kVisible).total();
}

/// Parameters that every forward pass reads: all but the tables of which it looks up a row for each token.
double parameters_read(const ModelConfig& model, const ParameterCount& count) {
  const auto table = model.tied ? 0.0 : static_cast<double>(*model.embedding_width);
  const auto of_layers = static_cast<double>(model.layer_embedding_width) * static_cast<double>(model.layers);
  return static_cast<double>(count.total) - static_cast<double>(model.vocabulary) * (table + of_layers);
}

}  // namespace

double TrainingMemory::of_batch(int64_t batch, bool stored_scores) const {
  return fixed() + static_cast<double>(batch) * (activations + (stored_scores ? scores : 0));
}

int64_t TrainingMemory::largest_batch(double bytes, bool stored_scores) const {
  const auto each = of_batch(1, stored_scores) - fixed();
  return std::max<int64_t>(0, static_cast<int64_t>(std::floor((bytes - fixed()) / each)));
}

double Work::least_seconds(double flops_per_s, double bytes_per_s) const {
  return std::max(flops / flops_per_s, bytes / bytes_per_s);
}

double Account::training_flops() const { return 3 * static_cast<double>(query.batch) * forward.total(); }

int64_t Account::largest_update(double bytes) const {
  const auto fixed = fixed_memory(model, static_cast<double>(query.optimizer));
  const auto fits = [&](int64_t batch) {
    return traced_update(model, fixed, trace_settings(*this, batch)).peak <= bytes;
  };
  if (!fits(1)) return 0;
  int64_t low = 1, high = 2;
  for (; fits(high); high *= 2) low = high;
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

Account account_of(const ModelConfig& config, const AccountQuery& query) {
  const auto model = resolved(config);
  Account account{.model = model,
                  .query = query,
                  .context = query.context.value_or(model.context),
                  .parameters = count_parameters(model),
                  .forward = {},
                  .memory = {},
                  .update = {},
                  .prefill = {},
                  .decode = {}};
  const auto tokens = static_cast<double>(account.context), batch = static_cast<double>(query.batch);
  const auto each = bytes_of_value(query.precision);
  account.forward = forward_flops(model, account.context, query.pairs);

  double kept = 0, scores = 0;
  for (const auto& block : expand_layers(model)) {
    const auto attention = std::visit(AttentionValueCounter{model.width}, block.attention);
    account.cache_per_token += each * attention.cached;
    account.cache += each * attention.cached * window_of_layer(block, tokens);
    kept += tokens * kept_values(block, model.width);
    scores += 2 * attention.heads * tokens * tokens;
  }
  kept += tokens * written(*model.final_norm) * static_cast<double>(model.width);
  kept += tokens * written(model.embedding_norm) * static_cast<double>(model.width);
  const auto logits = tokens * static_cast<double>(model.vocabulary);

  const auto count = static_cast<double>(account.parameters.total);
  auto& memory = account.memory;
  memory.weights = kFloat32Bytes * count;
  memory.gradients = kFloat32Bytes * count;
  memory.moments = kFloat32Bytes * count * static_cast<double>(query.optimizer);
  if (query.precision == Precision::kBfloat16)
    memory.weight_copies = kBfloat16Bytes * parameters_read(model, account.parameters);
  memory.activations = each * (kept + logits * static_cast<double>(query.logit_copies));
  memory.scores = each * scores;
  if (query.kept != KeptActivations::kTextbook) account.update = update_memory(account);

  const auto weights = each * parameters_read(model, account.parameters);
  account.prefill = {batch * account.forward.total(), weights + batch * account.cache};
  account.decode = {batch * last_token_flops(model, account.context),
                    weights + batch * (account.cache + account.cache_per_token)};
  return account;
}

}  // namespace blockzoo
