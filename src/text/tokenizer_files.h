#pragma once

#include <map>
#include <string>
#include <vector>

#include "blockzoo/text/train_tokenizer.h"
#include "text/learn_merges.h"
#include "text/pre_tokenizer.h"

namespace blockzoo {

std::vector<PreTokenizerStep> word_pattern_steps(WordPattern pattern);

/// The files of a trained tokenizer, by name.
std::map<std::string, std::string> tokenizer_files(const TokenizerTraining& training, const LearntMerges& learnt);

}  // namespace blockzoo
