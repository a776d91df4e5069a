#include "text/foreign_format.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace blockzoo {
namespace {

/// The first line is a token in base 64, a space, and its id.
bool is_tiktoken(std::string_view contents) {
  const auto line = contents.substr(0, contents.find('\n'));
  const auto space = line.find(' ');
  const auto id = line.substr(std::min(line.size(), space + 1));
  return space != line.npos && space > 0 && !id.empty() && id.find_first_not_of("0123456789\r") == id.npos &&
         line.substr(0, space).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") ==
             line.npos;
}

}  // namespace

std::optional<std::string_view> foreign_format(std::string_view contents) {
  if (is_tiktoken(contents)) return "a list of tokens for tiktoken";
  const auto json = nlohmann::json::parse(contents, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.contains("model")) return std::nullopt;
  if (json.contains("vocab") && json.contains("config")) return "Mistral's tekken";
  if (!json.empty() && std::all_of(json.begin(), json.end(), [](const auto& id) { return id.is_number_integer(); }))
    return "a vocabulary without its merges";
  return std::nullopt;
}

std::string foreign_file(const std::filesystem::path& folder) {
  for (const auto* name : {"tekken.json", "vocab.txt", "vocab.json"})
    if (std::filesystem::exists(folder / name)) return name;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".tiktoken") return entry.path().filename().string();
  return "";
}

}  // namespace blockzoo
