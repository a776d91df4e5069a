#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blockzoo/core/tree.h"
#include "blockzoo/data/corpus.h"
#include "blockzoo/kernels/choice.h"
#include "blockzoo/nn/model_config.h"
#include "blockzoo/train/loss.h"
#include "blockzoo/train/optimizer.h"
#include "blockzoo/train/precision.h"
#include "blockzoo/train/sample_config.h"
#include "blockzoo/train/schedule.h"
#include "blockzoo/train/start.h"

namespace blockzoo {

enum class DeviceChoice { kAuto, kCpu, kCuda };

constexpr auto names(DeviceChoice) {
  using enum DeviceChoice;
  return std::to_array<std::pair<DeviceChoice, std::string_view>>({{kAuto, "auto"}, {kCpu, "cpu"}, {kCuda, "cuda"}});
}

/// How a model is trained. A run ends as diverged when a loss or gradient is not finite, or when the loss stays more
/// than `divergence_nats` above that of the first step for ten steps in a row.
struct TrainConfig {
  int64_t steps = 200;
  int64_t batch = 16;
  int64_t accumulation = 1;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  LossConfig loss;
  double clip = 1;
  double divergence_nats = 1;
  Precision precision = Precision::kFloat32;
  Kernels kernels = Kernels::kFast;
  DeviceChoice device = DeviceChoice::kAuto;
  std::optional<int64_t> threads;
  int64_t log_every = 10;
  int64_t eval_every = 0;
  int64_t save_every = 0;
  int64_t keep = 2;
  int64_t probe_every = 0;
  SampleConfig sample;

  static void fields(auto& self, auto& visit) {
    visit("steps", self.steps, positive, "optimizer updates");
    visit("batch", self.batch, tensor_size, "sequences of one update");
    visit("accumulation", self.accumulation, positive, "parts that a batch is computed in, to save memory");
    visit("optimizer", self.optimizer, "optimizer");
    visit("schedule", self.schedule, "learning rate over time");
    visit("loss", self.loss, "terms beside the cross entropy");
    visit("clip", self.clip, not_negative, "largest joint norm of the gradients; 0 means off");
    visit("divergence_nats", self.divergence_nats, positive,
          "a loss this far above the first for ten steps is a divergence");
    visit("precision", self.precision, "float32, or bfloat16 products with float32 weights");
    visit("kernels", self.kernels, "fast: fused operators, on the CPU; reference: LibTorch's own");
    visit("device", self.device, "auto takes CUDA where there is one");
    visit("threads", self.threads, positive, "auto is the cores that this process may use");
    visit("log_every", self.log_every, positive, "steps between lines of the metrics");
    visit("eval_every", self.eval_every, not_negative, "steps between validations; 0 means at the end only");
    visit("save_every", self.save_every, not_negative, "steps between checkpoints; 0 means at the end only");
    visit("keep", self.keep, positive, "checkpoints kept, the newest");
    visit("probe_every", self.probe_every, not_negative,
          "steps between looks inside, layer by layer, which change nothing in training; 0 means none");
    visit("sample", self.sample, "what the trained model writes, for the report");
  }
  static void rules(const auto& self, auto& expect) {
    expect(self.batch % self.accumulation == 0, "accumulation",
           "must divide batch, which is " + std::to_string(self.batch));
    expect(warmup_of(self.schedule) <= self.steps, "schedule.warmup",
           "is above steps, which is " + std::to_string(self.steps));
  }
};

/// Everything that decides a run.
struct RunConfig {
  int64_t seed = 0;
  ModelConfig model;
  StartConfig start;
  DataConfig data;
  TrainConfig train;

  static void fields(auto& self, auto& visit) {
    visit("seed", self.seed, not_negative, "start values and dropout");
    visit("model", self.model, "the architecture");
    visit("start", self.start, "the values that training starts from");
    visit("data", self.data, "what it is trained on");
    visit("train", self.train, "how it is trained");
  }
  static void rules(const auto& self, auto& expect) {
    const auto needed = vocabulary_size(self.data.corpus);
    expect(
        self.model.vocabulary >= needed, "model.vocabulary",
        "is " + std::to_string(self.model.vocabulary) + ", but the data has ids up to " + std::to_string(needed - 1));
    expect(
        std::holds_alternative<NoSample>(self.train.sample) || !std::holds_alternative<TokensConfig>(self.data.corpus),
        "train.sample", "needs a corpus of text; nobody knows what the ids of this one stand for");
  }
};

/// The folder in a run's folder with a copy of its tokenizer's files. The run's config.yaml means that copy.
inline constexpr const char* kKeptTokenizer = "tokenizer";

/// Reads a run file. A top-level `base: other.yaml` is read first and the rest is laid over it; `scale: 1/16` beside it
/// makes the base's model smaller before that. Relative paths are seen from the file that names them; `scale`, when
/// given, acts on the whole file; `sets` ("a.b=value") come last. A name such as models/tiny.yaml or llama3-8b that is
/// no file is looked up among the configs that the program carries.
/// Errors: ConfigError with every problem.
RunConfig load_run_config(const std::filesystem::path& path, const std::vector<std::string>& sets = {},
                          const std::string& scale = "");

/// The same for what such a file holds, with relative paths seen from `folder`.
RunConfig read_run_config(const Tree& tree, const std::filesystem::path& folder,
                          const std::vector<std::string>& sets = {});

/// What a run file is laid over.
struct RunBase {
  std::string name;  // as its `base:` key says; "the defaults" without one
  RunConfig config;
};
RunBase load_run_base(const std::filesystem::path& path, const std::string& scale = "");

/// `patch` laid over a whole config; relative paths in it are seen from `folder`. Errors: ConfigError.
RunConfig patched(const RunConfig& base, const Tree& patch, const std::filesystem::path& folder);

/// The config as a tree, every default written out.
Tree to_document(const RunConfig& config);

/// The config with every `auto` of the model replaced.
RunConfig resolved(const RunConfig& config);

/// Identity of a run: a hash of its resolved config without folders of paths, threads and what only says how often
/// something is written. Weights that it starts from count by their content.
/// Errors: std::runtime_error when these cannot be read.
std::string identity(const RunConfig& config);

/// A run file that holds this model and these start values.
std::string run_file(const ModelConfig& model, const StartConfig& start);

}  // namespace blockzoo
