#pragma once

#include <string_view>
#include <vector>

namespace blockzoo {

/// Information in each byte of a generated story, -log p(x_i | x_1 ... x_{i-1}) nats, for a reader who knows templates,
/// words and odds, but not the seed. p(x_1 ... x_i) is the sum of the probabilities of all ways of telling that begin
/// so, hence exact even where two ways give one text. Stories are independent, so nothing before the story counts.
///
/// Neglected, together below 1e-4 nats a story: that pairs of names kept for validation are not in the training stories
/// and the reverse, and that a draw of n has odds of 1/n to 1 part in 2^27 only.
/// Errors: std::invalid_argument when the text does not begin like any story.
std::vector<double> information_of(std::string_view story);

}  // namespace blockzoo
