#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "blockzoo/text/tokenizer.h"

namespace blockzoo {

/// Encodes files on all cores and hands the ids out in their order, a block at a time. The tokenizer's end of text,
/// where it has one, follows each file, so that documents are apart; special tokens that stand in the files become
/// their ids. Memory does not grow with the files, unless the tokenizer knows no place to cut a file at, and then with
/// the largest. `progress` gets the part that was read, from 0 to 1. Both are called from one thread at a time. Errors:
/// std::system_error for a file that cannot be read; what the two functions throw.
void encode_files(const Tokenizer& tokenizer, const std::vector<std::filesystem::path>& files,
                  const std::function<void(std::span<const int64_t>)>& take,
                  const std::function<void(double)>& progress);

}  // namespace blockzoo
