#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blockzoo/data/batches.h"
#include "blockzoo/data/corpus.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// What one update did.
struct StepResult {
  int64_t step = 0;  // updates done, this one included
  double loss = 0;   // cross entropy before the update, nats per token
  double z = 0;      // mean log(Z)^2; 0 unless z_loss is on
  double lr = 0;
  double gradient_norm = 0;                      // before clipping
  std::map<std::string, double> gradient_norms;  // by layer, before clipping; only when asked for
  bool finite = true;                            // false: nothing was updated
};

/// Mean losses over the validation windows, nats per token. The two parts are absent where the corpus marks no names.
struct EvalResult {
  double loss = 0;
  std::optional<double> bits_per_byte;
  std::optional<double> repeated_names;
  std::optional<double> elsewhere;
  std::vector<double> window_losses;  // of each window

  /// A part's loss in bits per byte; absent where either is. Names are marked in bytes alone, so that a token stands
  /// for as many bytes in each part as on the whole.
  std::optional<double> bits_per_byte_of(const std::optional<double>& part) const;
};

/// The update that comes next, layer by layer: "embedding", "blocks.0", ..., "final_norm", "head".
struct NextUpdate {
  double gradient_norm = 0;                      // of all parameters together, before clipping
  std::map<std::string, double> gradient_norms;  // before clipping
  std::map<std::string, double> update_ratios;   // |change of w| / |w|, Euclidean norms; not finite where w is zero
};

/// A model in training: one update after the other, the same for every arm. No files, no clocks.
/// Dropout of step s draws from a generator seeded by (seed, s), so a session that was put back at a step goes on
/// exactly.
class Session {
 public:
  /// Opens the data, builds the model and draws its start values.
  /// Errors: ConfigError; std::runtime_error about data or device.
  explicit Session(const RunConfig& config);

  const RunConfig& config() const { return config_; }
  const Corpus& corpus() const { return corpus_; }
  Model& model() { return model_; }
  Adamw& optimizer() { return optimizer_; }
  c10::Device device() const { return device_; }
  int64_t steps_done() const { return step_; }
  void set_steps_done(int64_t step) { step_ = step; }
  const ValidationWindows& validation_windows() const { return validation_; }
  const Batches& batches() const { return batches_; }
  uint64_t validation_hash() const { return validation_.hash(); }
  /// Sum of the batches' hashes since the session began or was put back.
  uint64_t batches_hash() const { return batches_hash_; }
  void set_batches_hash(uint64_t hash) { batches_hash_ = hash; }
  /// Targets of all batches that were trained on, counted as they were read; also of one whose update was not finite.
  int64_t tokens_seen() const { return tokens_seen_; }
  void set_tokens_seen(int64_t tokens) { tokens_seen_ = tokens; }

  /// One update. `by_layer` also gives the gradient norm of each layer.
  StepResult advance(bool by_layer = false);
  EvalResult evaluate();

  /// Norm of the gradients of step 0 by layer ("embedding", "blocks.0", ..., "head"), without an update.
  std::map<std::string, double> first_gradient_norms();

  /// What advance() would do next: its gradients, clipping and rate. Weights, moments and counts are put back bit for
  /// bit; gradients stay. After the last step the rate is that of the last one.
  NextUpdate next_update();

 private:
  struct Sums {
    double cross_entropy = 0;
    double z = 0;
    int64_t tokens = 0;
  };
  Sums accumulate_gradients(int64_t step);
  std::map<std::string, double> gradient_norms() const;
  double rate_factor_now() const;

  const RunConfig config_;
  const c10::Device device_;
  Corpus corpus_;
  Batches batches_;
  ValidationWindows validation_;
  std::optional<double> bytes_per_token_;  // of the validation windows' targets
  Model model_;
  Adamw optimizer_;
  int64_t step_ = 0;
  uint64_t batches_hash_ = 0;
  int64_t tokens_seen_ = 0;
};

/// The device that a choice names. Errors: std::runtime_error when CUDA is asked for and absent.
c10::Device pick_device(DeviceChoice choice);

}  // namespace blockzoo
