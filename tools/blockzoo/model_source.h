#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blockzoo/hub/hugging_face.h"
#include "blockzoo/text/tokenizer.h"
#include "blockzoo/train/record.h"
#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// What a user names where a command takes a model.
struct ModelSource {
  std::string model;
  std::vector<std::string> sets;
  std::string weights;
};

/// A model, and what is known of where it comes from.
struct SourcedModel {
  LoadedModel loaded;
  std::string told;                              // where it came from, for people
  std::optional<RunConfig> run;                  // of a run folder
  std::optional<RunRecord> record;               // the same
  std::map<std::string, std::string> tokenizer;  // files, by name; empty when none is known
  std::string tokenizer_path;                    // where they come from; empty when they were made for bytes
  SpecialIds special_ids = {};                   // of a Hugging Face folder
  std::vector<std::string> notes;                // what the user should know
};

/// Adds the options --set and --weights.
void add_source_options(CLI::App& command, ModelSource& source);

/// The text that says what `model` may be.
inline constexpr auto kModelHelp =
    "a run folder (its newest checkpoint), one checkpoint's folder, a Hugging Face folder, or a run file with "
    "--weights";

/// Errors: std::runtime_error that says what is missing; ConfigError.
SourcedModel load_model(const ModelSource& source);

/// How text becomes ids for such a model; null when nothing says it.
std::unique_ptr<Tokenizer> model_tokenizer(const SourcedModel& model);

}  // namespace blockzoo
