#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace blockzoo {

/// The files of a tokenizer of bytes, by name: transformers.AutoTokenizer turns text into its UTF-8 bytes and back, one
/// id a byte, as the corpora `stories` and `text` do. `context` is the longest text that it says the model takes.
std::map<std::string, std::string> byte_tokenizer_files(int64_t context);

}  // namespace blockzoo
