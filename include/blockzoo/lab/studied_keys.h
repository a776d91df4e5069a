#pragma once

#include <string>
#include <vector>

#include "blockzoo/lab/study.h"

namespace blockzoo {

/// The arms that differ from the base in more than one thing, so that nobody can say which of them a loss comes from.
/// Things are the model, the data (data.* and model.vocabulary, which follows the corpus) and the training (train.*).
/// An arm is told of when its differences lie in two of them or more. Not counted, since they are varied on purpose and
/// alike for all: swept keys, the key that match searches, train.steps where a budget sets it; nor what only says how
/// often something is written (train.log_every, eval_every, save_every, keep) or how many threads there are. Several
/// keys of one thing are one change: a decoupled weight decay with its own rate, a head width with its number of heads.
/// Where a factorial study combines several factors, the combination is what it studies; only arms of one factor count.
/// Sentences: "NOT one change: ...", one for each such arm; or, where an arm changes the model and none is mixed, that
/// data and training are the same.
std::vector<std::string> mixed_changes(const Study& study);

/// Throws std::logic_error when `arm` differs from `base` in a key that `patch`, which made it, does not name. Values
/// that follow from others are no differences here, since both configs are as written, with their autos.
void require_named(const RunConfig& base, const RunConfig& arm, const Tree& patch, const std::string& path);

}  // namespace blockzoo
