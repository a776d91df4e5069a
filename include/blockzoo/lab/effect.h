#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blockzoo/lab/study.h"

namespace blockzoo {

/// What an arm changes in the model before any training: both are built from the same seed and read the same tokens.
struct Effect {
  std::string arm;
  bool model = false;            // the model's config differs from the base's; else only data or training do
  int64_t added = 0;             // parameters, by name and shape, that the base lacks
  int64_t dropped = 0;           // those that the arm lacks
  int64_t redrawn = 0;           // those of both whose start values differ
  std::optional<double> logits;  // largest difference of a logit; absent when the shapes differ
  bool first_update = false;     // loss, gradient norm or parameters of the first update differ

  /// False when nothing above differs.
  bool acts() const;
  /// "12 parameters more, 4 fewer; logits differ by up to 0.31".
  std::string in_words() const;
};

/// One for each arm that is not the base, at its first run; arms that cannot be built, as without their data, are left
/// out. Trains one step of each and writes nothing.
std::vector<Effect> effects_of(const Study& study);

/// Throws ConfigError, which names the study's file and every arm that changes the model's config and nothing else.
void refuse_without_effect(const std::vector<Effect>& effects, const std::string& file);

/// effects.json in the study's folder; reading gives an empty list when there is none.
void write_effects(const std::filesystem::path& folder, const std::vector<Effect>& effects);
std::vector<Effect> read_effects(const std::filesystem::path& folder);

}  // namespace blockzoo
