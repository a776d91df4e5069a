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
  std::optional<double> flops;   // of a training step, in those of the base's; absent in older files

  /// False when nothing that a result could show differs. FLOPs alone are cost: an arm with other FLOPs and the base's
  /// parameters, logits and first update to the last digit has the base's losses too.
  bool acts() const;
  /// "12 parameters that the base lacks; logits at step 0 differ by up to 0.31; a training step takes 1.25 times the
  /// base's FLOPs".
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
