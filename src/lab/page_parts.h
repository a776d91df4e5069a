#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blockzoo/core/embedded.h"

namespace blockzoo {

/// One self-contained page: `page.html` of `files` with {{title}}, {{data}}, which is `json` inside a script element,
/// and each other {{name}} replaced by the file of that name. No text of `title` and `json` can leave its place.
/// Errors: std::logic_error when the page names a file that is not there.
std::string filled_page(const std::vector<EmbeddedFile>& files, std::string_view title, std::string_view json);

}  // namespace blockzoo
