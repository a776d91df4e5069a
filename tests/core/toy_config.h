#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/reader.h"
#include "core/writer.h"

namespace blockzoo {

// A config with one field of every type that a config struct may have.

enum class Shade { kLight, kDark };

constexpr auto names(Shade) {
  return std::to_array<std::pair<Shade, std::string_view>>({{Shade::kLight, "light"}, {Shade::kDark, "dark"}});
}

struct SoftNorm {
  static constexpr std::string_view kind = "soft";
  static constexpr std::string_view summary = "s";
  static constexpr std::string_view source = "";
  double eps = 1e-6;
  bool gain = true;
  static void fields(auto& self, auto& visit) {
    visit("eps", self.eps, positive, "e");
    visit("gain", self.gain, "g");
  }
};

struct HardNorm {
  static constexpr std::string_view kind = "hard";
  static constexpr std::string_view summary = "h";
  static constexpr std::string_view source = "";
  double limit = 1;
  static void fields(auto& self, auto& visit) { visit("limit", self.limit, fraction, "l"); }
};

struct NoNorm {
  static constexpr std::string_view kind = "none";
  static constexpr std::string_view summary = "n";
  static constexpr std::string_view source = "";
  static void fields(auto&, auto&) {}
};

using ToyNormConfig = std::variant<SoftNorm, HardNorm, NoNorm>;

struct ToyOptimizer {
  double lr = 1e-3;
  double decay = 0;
  static void fields(auto& self, auto& visit) {
    visit("lr", self.lr, positive, "rate");
    visit("decay", self.decay, not_negative, "decay");
  }
};

struct ToyTrain {
  int64_t steps = 100;
  int64_t warmup = 0;
  ToyOptimizer optimizer;
  static void fields(auto& self, auto& visit) {
    visit("steps", self.steps, positive, "steps");
    visit("warmup", self.warmup, not_negative, "warm-up");
    visit("optimizer", self.optimizer, "optimizer");
  }
  static void rules(const auto& self, auto& expect) {
    expect(self.warmup <= self.steps, "warmup", "is above steps, which is " + std::to_string(self.steps));
  }
};

struct ToyConfig {
  std::string name = "toy";
  bool tied = false;
  Shade shade = Shade::kLight;
  std::optional<int64_t> width;
  std::vector<int64_t> seeds{0};
  ToyNormConfig norm;
  std::optional<ToyNormConfig> last_norm;
  ToyTrain train;
  Tree free;

  static void fields(auto& self, auto& visit) {
    visit("name", self.name, "text");
    visit("tied", self.tied, "flag");
    visit("shade", self.shade, "enum");
    visit("width", self.width, positive, "optional");
    visit("seeds", self.seeds, not_negative, "list");
    visit("norm", self.norm, "variant");
    visit("last_norm", self.last_norm, "optional variant");
    visit("train", self.train, "section");
    visit("free", self.free, "anything");
  }
};

inline ToyConfig read_toy(const std::string& yaml) { return read_config<ToyConfig>(parse_yaml(yaml, "toy.yaml")); }

/// Every problem that reading finds, one a line; empty when there is none.
inline std::string toy_problems(const std::string& yaml) {
  try {
    read_toy(yaml);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// What refuses `yaml` as YAML; empty when nothing does.
inline std::string yaml_problem(const std::string& yaml) {
  try {
    parse_yaml(yaml, "f.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace blockzoo
