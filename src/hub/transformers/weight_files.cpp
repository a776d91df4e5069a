#include "hub/transformers/weight_files.h"

#include <ATen/ATen.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "hub/safetensors_header.h"

namespace blockzoo {
namespace {

namespace fs = std::filesystem;

constexpr auto kSingle = "model.safetensors";
constexpr auto kIndex = "model.safetensors.index.json";

/// Tensor name to file name.
std::map<std::string, std::string> read_index(const fs::path& path) {
  const auto refuse = [&](const std::string& problem) { throw std::runtime_error(path.string() + ": " + problem); };
  std::map<std::string, std::string> files;
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(read_file(path));
  } catch (const nlohmann::json::exception& error) {
    refuse(std::string("is not JSON: ") + error.what());
  }
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    refuse("weight_map is missing, or no map of tensors and files");
  for (const auto& [name, file] : json["weight_map"].items()) {
    if (!file.is_string()) refuse("weight_map: " + quote(name) + " has no file name");
    const auto text = file.get<std::string>();
    if (text.empty() || fs::path(text).filename() != text || text == "." || text == "..")
      refuse("weight_map: " + quote(text) + " is no file of the folder");
    files[name] = text;
  }
  if (files.empty()) refuse("weight_map names no tensor");
  return files;
}

std::string shard_name(size_t number, size_t count) {
  char name[64];
  std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", number, count);
  return name;
}

}  // namespace

WeightFiles::WeightFiles(const fs::path& folder) {
  if (fs::exists(folder / kIndex)) {
    source_ = folder / kIndex;
    const auto index = read_index(source_);
    for (const auto& [name, file] : index) {
      if (!files_.contains(file)) add(folder / file);
    }
    for (const auto& [name, file] : index) {
      const auto found = file_of_.find(name);
      if (found == file_of_.end() || found->second != file)
        throw std::runtime_error(source_.string() + ": " + file + " has no tensor " + quote(name));
    }
  } else if (fs::exists(folder / kSingle)) {
    source_ = folder / kSingle;
    add(source_);
  } else {
    throw std::runtime_error(folder.string() + ": has neither " + kSingle + " nor " + kIndex +
                             "; weights in other formats are not read");
  }
}

void WeightFiles::add(const fs::path& path) {
  const auto name = path.filename().string();
  const auto& file = files_.emplace(name, SafetensorsFile(path)).first->second;
  for (const auto& info : file.tensors()) {
    if (!file_of_.emplace(info.name, name).second)
      throw std::runtime_error(path.string() + ": tensor " + quote(info.name) + " stands in " + file_of_.at(info.name) +
                               " too");
    tensors_.emplace(info.name, info);
  }
}

at::Tensor WeightFiles::read(const std::string& name) const { return files_.at(file_of_.at(name)).read(name); }

void write_weight_files(const fs::path& folder, const NamedTensors& tensors, at::ScalarType dtype,
                        int64_t shard_bytes) {
  const auto bytes_of = [&](const at::Tensor& tensor) {
    return tensor.numel() * static_cast<int64_t>(c10::elementSize(dtype));
  };
  std::vector<NamedTensors> shards(1);
  int64_t filled = 0, total = 0;
  for (const auto& entry : tensors) {
    const auto bytes = bytes_of(entry.second);
    if (!shards.back().empty() && filled + bytes > shard_bytes) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().push_back(entry);
    filled += bytes;
    total += bytes;
  }
  auto map = nlohmann::ordered_json::object();
  for (size_t number = 0; number < shards.size(); ++number) {
    const auto name = shards.size() == 1 ? std::string(kSingle) : shard_name(number + 1, shards.size());
    auto converted = shards[number];
    for (auto& [tensor_name, tensor] : converted) {
      tensor = tensor.to(dtype);
      map[tensor_name] = name;
    }
    save_safetensors(folder / name, converted, {{"format", "pt"}});
  }
  if (shards.size() == 1) return;
  const nlohmann::ordered_json index{{"metadata", {{"total_size", total}}}, {"weight_map", map}};
  write_file(folder / kIndex, index.dump(2) + "\n");
}

}  // namespace blockzoo
