#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "blockzoo/core/fields.h"
#include "blockzoo/nn/types.h"

namespace torch::nn {
class Module;
}

namespace blockzoo {

/// AdamW: m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, both bias corrected;
///   w = w - lr * weight_decay * w - lr * m / (sqrt(v) + eps).
/// Source: Loshchilov and Hutter 2017, arXiv:1711.05101, with the decay multiplied by the rate, as PyTorch does.
struct AdamwConfig {
  static constexpr std::string_view kind = "adamw";
  static constexpr std::string_view summary = "w = w - lr * weight_decay * w - lr * m / (sqrt(v) + eps)";
  static constexpr std::string_view source = "Loshchilov and Hutter 2017, arXiv:1711.05101";

  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;
  bool decay_norms = false;
  bool decay_biases = false;
  bool decay_embeddings = false;

  static void fields(auto& self, auto& visit) {
    visit("lr", self.lr, positive, "learning rate at its highest");
    visit("beta1", self.beta1, dropout_rate, "decay of the mean of gradients");
    visit("beta2", self.beta2, dropout_rate, "decay of the mean of squared gradients");
    visit("eps", self.eps, positive, "added to the root");
    visit("weight_decay", self.weight_decay, not_negative, "decay of weights, multiplied by the rate");
    visit("decay_norms", self.decay_norms, "decay norms' parameters too");
    visit("decay_biases", self.decay_biases, "decay biases too");
    visit("decay_embeddings", self.decay_embeddings, "decay token and position tables too (a tied head is one)");
  }
  static void rules(const auto& self, auto& expect) {
    const char* unused = "has no effect when weight_decay is 0";
    expect(self.weight_decay > 0 || !self.decay_norms, "decay_norms", unused);
    expect(self.weight_decay > 0 || !self.decay_biases, "decay_biases", unused);
    expect(self.weight_decay > 0 || !self.decay_embeddings, "decay_embeddings", unused);
  }
};

/// Every optimizer; the first is the default.
using OptimizerConfig = std::variant<AdamwConfig>;

/// Names of the parameters that decay and of those that do not; together, every parameter once.
struct DecayGroups {
  std::vector<std::string> decayed;
  std::vector<std::string> kept;
};
DecayGroups decay_groups(const torch::nn::Module& model, const AdamwConfig& config);

/// What gradients of joint norm `norm` are divided by so that it is at most `limit` (0: no limit).
double clip_divisor(double norm, double limit);

class Adamw {
 public:
  Adamw(const AdamwConfig& config, torch::nn::Module& model);

  /// The joint Euclidean norm of all gradients.
  double gradient_norm() const;

  /// One update at lr * factor by gradients divided by `divisor`, in the pass that reads them. Every parameter must
  /// have a gradient; they are left divided.
  void step(double factor, double divisor = 1);
  void zero_grad();

  /// Moments and counts under "<parameter>.mean", ".square", ".step"; they share memory with the optimizer.
  std::map<std::string, Tensor> state() const;
  /// Copies a state in. Errors: one std::runtime_error with every name that is missing, unexpected or misshapen.
  void load_state(const std::map<std::string, Tensor>& state);

 private:
  struct Group {
    double weight_decay = 0;
    std::vector<std::string> names;
    std::vector<Tensor> parameters, means, squares, steps;
  };
  std::vector<Tensor> gradients(const Group& group) const;

  const AdamwConfig config_;
  std::vector<Group> groups_;
};

}  // namespace blockzoo
