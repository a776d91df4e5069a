#pragma once

#include <string>
#include <vector>

#include "blockzoo/lab/zoo.h"

namespace blockzoo {

/// How a model's proportions compare with those of published models: for each ratio the model's value beside the range
/// and the middle eight tenths of `published`, and the published models that are nearest. Nothing is refused.
/// Distance: |log2| of the quotients of F/D, H K / D and D / layers, summed, and 1 for each choice that differs of
/// norm, layout, position, attention and ffn.
std::string advice_text(const ZooModel& model, const std::vector<ZooModel>& published);
std::string advice_json(const ZooModel& model, const std::vector<ZooModel>& published);

}  // namespace blockzoo
