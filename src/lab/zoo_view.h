#pragma once

#include <vector>

#include "lab/zoo_columns.h"

namespace blockzoo {

/// The models that meet every condition of the view's filter, in its order. Errors: ConfigError.
std::vector<const ZooModel*> chosen_models(const std::vector<ZooModel>& models, const ZooView& view);

/// The columns that the view names, or those of the overview. Errors: ConfigError.
std::vector<const ZooColumn*> shown_columns(const ZooView& view);

}  // namespace blockzoo
