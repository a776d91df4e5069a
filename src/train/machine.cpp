#include "train/machine.h"

#include <spdlog/fmt/fmt.h>
#include <sys/utsname.h>

#include <filesystem>
#include <fstream>

#include "blockzoo/train/run.h"

namespace blockzoo {
namespace {

/// What follows "key : " in a file of such lines; empty when there is none.
std::string value_of(const std::filesystem::path& file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    const auto start = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

std::string graphics_processors() {
  std::string text;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", none))
    text += ", " + value_of(entry.path() / "information", "Model");
  return text;
}

}  // namespace

std::string machine() {
  auto text = value_of("/proc/cpuinfo", "model name");
  const auto cores = thread_count({});
  text += fmt::format("{}{} core{}", text.empty() ? "" : ", ", cores, cores == 1 ? "" : "s");
  if (const auto memory = value_of("/proc/meminfo", "MemTotal"); !memory.empty())
    text += fmt::format(", {:.1f} GiB", static_cast<double>(std::stoll(memory)) / (1 << 20));
  text += graphics_processors();
  struct utsname system = {};
  if (::uname(&system) == 0) text += fmt::format(", {} {} {}", system.sysname, system.release, system.machine);
  return text;
}

}  // namespace blockzoo
