#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "blockzoo/core/fields.h"

namespace torch::nn {
class Module;
}

namespace blockzoo {

/// Start values N(0, std^2).
struct NormalInit {
  static constexpr std::string_view kind = "normal";
  static constexpr std::string_view summary = "N(0, std^2)";
  static constexpr std::string_view source = "Radford et al. 2019 (GPT-2)";

  double std = 0.02;
  double cut_sigmas = 0;

  static void fields(auto& self, auto& visit) {
    visit("std", self.std, positive, "standard deviation before the cut");
    visit("cut_sigmas", self.cut_sigmas, not_negative, "redraw beyond this many standard deviations; 0 means no cut");
  }
};

/// Start values N(0, gain^2 / fan_in).
struct FanInInit {
  static constexpr std::string_view kind = "fan_in";
  static constexpr std::string_view summary = "N(0, gain^2 / fan_in)";
  static constexpr std::string_view source = "LeCun et al. 1998; He et al. 2015, arXiv:1502.01852";

  double gain = 1;
  double cut_sigmas = 0;

  static void fields(auto& self, auto& visit) {
    visit("gain", self.gain, positive, "1 is LeCun's rule, sqrt(2) He's");
    visit("cut_sigmas", self.cut_sigmas, not_negative, "redraw beyond this many standard deviations; 0 means no cut");
  }
};

/// Start values N(0, 2 gain^2 / (fan_in + fan_out)).
struct GlorotInit {
  static constexpr std::string_view kind = "glorot";
  static constexpr std::string_view summary = "N(0, 2 gain^2 / (fan_in + fan_out))";
  static constexpr std::string_view source = "Glorot and Bengio 2010";

  double gain = 1;
  double cut_sigmas = 0;

  static void fields(auto& self, auto& visit) {
    visit("gain", self.gain, positive, "factor of the standard deviation");
    visit("cut_sigmas", self.cut_sigmas, not_negative, "redraw beyond this many standard deviations; 0 means no cut");
  }
};

using MatrixInit = std::variant<NormalInit, FanInInit, GlorotInit>;

/// Tables have no fan, so only a given deviation makes sense.
using TableInit = std::variant<NormalInit>;

/// Start values of the whole model. Norms, biases and single numbers start where their modules say.
struct InitConfig {
  MatrixInit matrices;
  TableInit embeddings;
  MatrixInit head;
  bool depth_scaled_outputs = true;

  static void fields(auto& self, auto& visit) {
    visit("matrices", self.matrices, "every matrix of the blocks");
    visit("embeddings", self.embeddings, "token embedding, learned positions, relative biases");
    visit("head", self.head, "output matrix, unless tied");
    visit("depth_scaled_outputs", self.depth_scaled_outputs,
          "matrices that write to the stream start 1 / sqrt(2 layers) smaller (GPT-2)");
  }
};

/// Draws every parameter of a Linear or an Embedding below `model`. Each has a generator of its own, seeded by (seed,
/// its name), so a parameter that two models share starts equal in both. Drawn on the CPU in float32.
void initialise(torch::nn::Module& model, const InitConfig& init, int64_t layers, uint64_t seed);

}  // namespace blockzoo
