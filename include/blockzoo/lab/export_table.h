#pragma once

#include <string>
#include <vector>

#include "blockzoo/lab/zoo.h"

namespace blockzoo {

/// What exports to which class of transformers, in Markdown: a line for each class with the models that take it.
std::string export_table(const std::vector<ZooModel>& models);

/// In Markdown, a line for each model that goes with the modelling file, with the first field that no class can hold.
std::string export_reasons(const std::vector<ZooModel>& models);

}  // namespace blockzoo
