#pragma once

#include <map>
#include <string>
#include <string_view>

#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// Operations of one kind in one update.
struct KindFlops {
  double products = 0;  // by kTrainingFlopsConvention
  double others = 0;    // by kOtherFlopsConvention
  double total() const { return products + others; }
};

/// By the kinds of kind_of_operator, and "softmax" for what happens to scores on their way to weights, which a fused
/// attention does within "attention".
std::map<std::string, KindFlops> update_flops(const RunConfig& config);

/// The three classes of operators of Ivanov et al. 2020, arXiv:2007.00072: "contractions", "normalisation" (the
/// softmaxes of attention and loss are among it) and "element-wise"; "other" for kinds without operations.
std::string_view class_of_kind(std::string_view kind);

}  // namespace blockzoo
