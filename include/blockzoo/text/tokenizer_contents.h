#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace blockzoo {

/// The files of a tokenizer by name: those of a folder that open_tokenizer and transformers.AutoTokenizer read, or the
/// one file that `path` is, named tokenizer.json or tokenizer.model. Empty when there is none. Errors:
/// std::system_error for a file that cannot be read.
std::map<std::string, std::string> tokenizer_contents(const std::filesystem::path& path);

}  // namespace blockzoo
