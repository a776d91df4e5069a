#pragma once

#include <string>

#include "blockzoo/core/fields.h"

namespace blockzoo {

/// What a study expects, said before it is run: `arm` at its best point is better than `better_than` at its best.
struct HypothesisConfig {
  std::string arm;
  std::string better_than;
  double by_at_least_nats = 0;

  bool stated() const { return !arm.empty() || !better_than.empty(); }

  static void fields(auto& self, auto& visit) {
    visit("arm", self.arm, "the arm that is expected to be better");
    visit("better_than", self.better_than, "the arm that it is held against");
    visit("by_at_least_nats", self.by_at_least_nats, not_negative, "smallest difference that counts, nats per token");
  }
  static void rules(const auto& self, auto& expect) {
    expect(self.arm.empty() == self.better_than.empty(), self.arm.empty() ? "arm" : "better_than", "is missing");
    expect(!self.stated() || self.arm != self.better_than, "better_than", "must be another arm");
  }
};

}  // namespace blockzoo
