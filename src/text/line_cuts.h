#pragma once

#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"

namespace blockzoo {

/// Whether text may be cut between a line end and an ASCII letter without changing its ids: every pattern is one that
/// is known to end a piece there, and nothing before the patterns joins the two.
bool breaks_after_lines(const std::vector<NormalizerStep>& normalizer,
                        const std::vector<PreTokenizerStep>& pre_tokenizer, const std::vector<AddedToken>& added);

/// The last such place in the text; 0 when there is none.
size_t last_line_cut(std::string_view text);

}  // namespace blockzoo
