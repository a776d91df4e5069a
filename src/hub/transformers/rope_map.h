#pragma once

#include <string_view>

#include "blockzoo/nn/position/rope.h"
#include "hub/transformers/config_map.h"

namespace blockzoo {

/// How a class spells its rotary positions.
struct RopeNames {
  double theta = 10000;                                     // of a class where config.json says nothing
  double fraction = 1;                                      // the same for the share of a head that turns
  bool partial = false;                                     // the class looks at the share at all
  std::string_view theta_key = "rope_theta";                // of the previous major version
  std::string_view fraction_key = "partial_rotary_factor";  // the same
  std::string_view layer_type = "";                         // inside rope_parameters, where layers differ
  bool scales = true;                                       // the class stretches the context
  int64_t context = 0;                                      // stands for an absent original context
};

/// Rotary positions of heads of `width` channels. Reads rope_parameters of version 5 of transformers, else rope_theta
/// and rope_scaling of version 4; writes both.
void rope(ConfigMap& map, RopePositionConfig& rope, int64_t width, const RopeNames& names);

}  // namespace blockzoo
