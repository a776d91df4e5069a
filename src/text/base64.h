#pragma once

#include <string>
#include <string_view>

namespace blockzoo {

/// The bytes that a text in base 64 stands for (RFC 4648). Errors: std::runtime_error for another letter.
std::string base64_bytes(std::string_view text);

}  // namespace blockzoo
