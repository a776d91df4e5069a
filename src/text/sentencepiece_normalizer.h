#pragma once

#include <string>
#include <string_view>

#include "text/normalizer.h"

namespace blockzoo {

std::string sentencepiece_normal(const SentencePieceStep& step, std::string_view text, TextStart start);

}  // namespace blockzoo
