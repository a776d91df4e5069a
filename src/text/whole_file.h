#pragma once

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace blockzoo {

/// A file's bytes. Errors: std::system_error with the path and the system's reason.
inline std::string whole_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  if (!stream.is_open() || stream.bad())
    throw std::system_error(errno, std::generic_category(), "cannot read " + file.string());
  return bytes;
}

}  // namespace blockzoo
