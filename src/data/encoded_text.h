#pragma once

#include <string>

#include "blockzoo/data/held_out.h"
#include "blockzoo/data/token_source.h"
#include "blockzoo/data/tokenizer_config.h"

namespace blockzoo {

/// Text as the ids of a tokenizer: files that are encoded now, or a token file of that tokenizer.
Corpus open_encoded_text(const std::string& path, const ValidationConfig& validation,
                         const FileTokenizerConfig& tokenizer);

}  // namespace blockzoo
