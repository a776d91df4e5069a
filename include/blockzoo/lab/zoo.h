#pragma once

#include <string>
#include <vector>

#include "blockzoo/core/about.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// A model by name: what is known of the published one, what a run of it would be, and its parameters as built.
struct ZooModel {
  std::string name;  // llama3-8b; with its scale when it was made smaller
  About about;       // empty when its file says nothing
  RunConfig config;
  ParameterCount count;
  bool decay_is_told = true;  // of a published model: whether its weight decay is known, and no default
};

/// Every model that the program carries with an `about` section, by name.
const std::vector<ZooModel>& zoo();

/// The model that a file, or a name such as llama3-8b, stands for; made smaller unless `scale` is empty.
/// Errors: ConfigError.
ZooModel zoo_model(const std::string& name, const std::string& scale = "");

/// One model in full: what is known of it, its choices, its parameters by part, and its `model:` section.
std::string zoo_text(const ZooModel& model);
std::string zoo_json(const ZooModel& model);

/// What of the zoo is shown, and how.
struct ZooView {
  std::string filter;   // "norm=rms_norm,parameters<1e10": every condition must hold
  std::string sort;     // a column; "-year" is downwards; empty: by name
  std::string columns;  // names, separated by commas; empty: those of the overview
};

/// Tables of the models, a line each. Errors: ConfigError about the view.
std::string zoo_table(const std::vector<ZooModel>& models, const ZooView& view);
std::string zoo_table_json(const std::vector<ZooModel>& models, const ZooView& view);

/// docs/zoo.md.
std::string zoo_page(const std::vector<ZooModel>& models);

}  // namespace blockzoo
