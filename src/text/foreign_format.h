#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace blockzoo {

/// What a tokenizer's file of a format that is not read is called; absent when its contents are of none that is known.
std::optional<std::string_view> foreign_format(std::string_view contents);

/// The name of a tokenizer's file of such a format in a folder; empty when there is none.
std::string foreign_file(const std::filesystem::path& folder);

}  // namespace blockzoo
