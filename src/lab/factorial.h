#pragma once

#include <map>
#include <string>
#include <vector>

#include "blockzoo/lab/verdict.h"
#include "lab/points.h"

namespace blockzoo {

/// Every main effect and interaction of a factorial study, those of fewer factors first, with Holm's correction over
/// all of them. `cells` has the point of every arm that is to be looked at.
std::vector<FactorialEffect> factorial_effects(const std::vector<Factor>& factors,
                                               const std::map<std::string, const StudyPoint*>& cells);

/// "layout post_norm with warmup long".
std::string name_of_effect(const FactorialEffect& effect);

/// "Main effect of layout post_norm: +0.2100 nats per token (95 % interval ...; p ... after correction), worse."
std::string in_words(const FactorialEffect& effect);

/// The effects as a table, with the conventions of its columns; empty when there is none.
std::string factorial_markdown(const std::vector<FactorialEffect>& effects);

/// A line an effect.
std::string factorial_csv(const std::vector<FactorialEffect>& effects);

}  // namespace blockzoo
