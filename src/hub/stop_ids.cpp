#include "blockzoo/hub/stop_ids.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "blockzoo/hub/atomic_file.h"

namespace blockzoo {
namespace {

std::vector<int64_t> stop_ids_in(const std::filesystem::path& file) {
  const auto json = nlohmann::json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw std::runtime_error(file.string() + ": is no JSON object");
  auto value = json.value("eos_token_id", nlohmann::json());
  if (value.is_null()) return {};
  if (!value.is_array()) value = nlohmann::json::array({value});
  std::vector<int64_t> ids;
  for (const auto& id : value) {
    if (!id.is_number_integer())
      throw std::runtime_error(file.string() + ": eos_token_id must be an id or a list of ids, got " + id.dump());
    ids.push_back(id.get<int64_t>());
  }
  return ids;
}

}  // namespace

std::vector<int64_t> stop_ids(const std::filesystem::path& folder) {
  for (const auto* name : {"generation_config.json", "config.json"}) {
    if (!std::filesystem::exists(folder / name)) continue;
    if (auto ids = stop_ids_in(folder / name); !ids.empty()) return ids;
  }
  return {};
}

}  // namespace blockzoo
