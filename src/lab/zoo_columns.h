#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "blockzoo/lab/zoo.h"

namespace blockzoo {

/// What a model has in a column: a choice, which has words, or a figure, which has none.
struct ZooCell {
  std::string text;                     // "24x rope, 8x none"
  std::vector<std::string> words = {};  // what a filter may ask for: rope, none
  std::optional<double> number = {};    // what it is sorted and compared by; of the first layer, where layers differ
  bool same_in_all_layers = true;
};

/// A choice, or a figure, by which models are compared.
struct ZooColumn {
  std::string name;   // as filters and --sort say it
  std::string title;  // as tables say it
  std::string doc;
  bool overview;  // shown when no columns are asked for
  std::function<ZooCell(const ZooModel&)> cell;
};

const std::vector<ZooColumn>& zoo_columns();

/// 8030261248 as 8,030,261,248.
std::string with_commas(int64_t number);

}  // namespace blockzoo
