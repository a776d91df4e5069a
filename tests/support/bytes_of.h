#pragma once

#include <string>
#include <vector>

#include "blockzoo/data/token_source.h"

namespace blockzoo {

/// All tokens of a source of bytes, as text.
inline std::string bytes_of(const TokenSource& source) {
  std::vector<int64_t> tokens(static_cast<size_t>(source.size()));
  source.read(0, tokens);
  return std::string(tokens.begin(), tokens.end());
}

}  // namespace blockzoo
