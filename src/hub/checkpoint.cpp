#include "blockzoo/hub/checkpoint.h"

#include <stdio.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "blockzoo/core/hash.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/safetensors.h"
#include "hub/descriptor.h"

namespace blockzoo {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr int64_t schema = 1;
constexpr std::string_view prefix = "step_";
constexpr const char* weights_file = "weights.safetensors";
constexpr const char* optimizer_file = "optimizer.safetensors";
constexpr const char* config_file = "config.yaml";
constexpr const char* state_file = "state.json";

/// The step that a folder is named after, or nothing when it is not a checkpoint's name.
std::optional<int64_t> step_of(const fs::path& path) {
  const auto name = path.filename().string();
  int64_t step = 0;
  if (!name.starts_with(prefix)) return std::nullopt;
  std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
  if (checkpoint_name(step) != name) return std::nullopt;
  return step;
}

Json parse_json(const std::string& text) {
  constexpr int max_depth = 64;
  const auto limit_depth = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > max_depth) throw std::runtime_error("nested too deep");
    return true;
  };
  try {
    return Json::parse(text, limit_depth);
  } catch (const Json::exception&) {
    throw std::runtime_error("not valid JSON");
  }
}

Json to_json(const FileSum& sum) { return {{"bytes", sum.bytes}, {"hash", hex(sum.hash)}}; }

/// state.json sums itself up too: its "hash" covers the rest.
std::string hash_of(Json state) {
  state.erase("hash");
  return hex(hash_bytes(state.dump()));
}

Json read_state(const fs::path& path) {
  auto state = parse_json(read_file(path / state_file));
  if (!state.is_object()) throw std::runtime_error("not a JSON map");
  if (state.value("schema", Json()) != schema) {
    throw std::runtime_error("its schema is " + state.value("schema", Json()).dump() + ", this program reads " +
                             std::to_string(schema));
  }
  if (state.value("hash", Json()) != hash_of(state)) {
    throw std::runtime_error("its text was changed: the checksum differs");
  }
  return state;
}

void write_files(const fs::path& folder, const Checkpoint& checkpoint) {
  const auto tensors = [](const auto& map) { return NamedTensors(map.begin(), map.end()); };
  Json files;
  files[weights_file] =
      to_json(save_safetensors(folder / weights_file, tensors(checkpoint.weights), {{"format", "pt"}}));
  files[optimizer_file] = to_json(save_safetensors(folder / optimizer_file, tensors(checkpoint.optimizer)));
  files[config_file] = to_json(write_file(folder / config_file, checkpoint.config_yaml));
  Json state = {{"schema", schema}, {"step", checkpoint.step}, {"config_hash", checkpoint.config_hash}};
  state["state"] = parse_json(checkpoint.state_json);
  if (!state["state"].is_object()) throw std::runtime_error("state_json is not a JSON map");
  state["files"] = files;
  state["hash"] = hash_of(state);
  write_file(folder / state_file, state.dump(2) + "\n");
}

/// Puts `from` in the place of `to`; what was there is then found at `from`. One step where the system can exchange.
void exchange(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return;
  if (errno != EEXIST && errno != ENOTEMPTY) throw_system("write", to);
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return;
  const auto aside = unfinished_name(to);
  if (::rename(to.c_str(), aside.c_str()) != 0) throw_system("replace", to);
  if (::rename(from.c_str(), to.c_str()) != 0) {
    const int error = errno;
    ::rename(aside.c_str(), to.c_str());
    throw_system("write", to, error);
  }
  fs::rename(aside, from);
}

/// Renamed before it is emptied, so that half of it is never taken for a checkpoint.
void remove_checkpoint(const fs::path& path) {
  const auto aside = unfinished_name(path);
  if (::rename(path.c_str(), aside.c_str()) != 0) throw_system("remove", path);
  fs::remove_all(aside);
}

void prune(const fs::path& folder, int64_t newest, int64_t keep) {
  if (keep <= 0) return;
  for (const auto& path : list_checkpoints(folder)) {
    if (*step_of(path) <= newest && keep-- <= 0) remove_checkpoint(path);
  }
}

}  // namespace

std::string checkpoint_name(int64_t step) {
  const auto digits = std::to_string(step);
  return std::string(prefix) + std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0') + digits;
}

std::vector<fs::path> list_checkpoints(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (step_of(entry.path())) found.push_back(entry.path());
  }
  if (error && error != std::errc::no_such_file_or_directory) throw_system("list", folder, error.value());
  std::ranges::sort(found, std::greater(), [](const auto& path) { return *step_of(path); });
  return found;
}

fs::path save_checkpoint(const fs::path& folder, const Checkpoint& checkpoint, int64_t keep) {
  const auto path = folder / checkpoint_name(checkpoint.step);
  const auto temporary = unfinished_name(path);
  std::string outcome = " was not saved: ";
  try {
    if (fs::create_directories(folder)) sync_folder(fs::absolute(folder).lexically_normal().parent_path());
    fs::create_directory(temporary);
    write_files(temporary, checkpoint);
    exchange(temporary, path);
    sync_folder(folder);
    outcome = " was saved, but what it replaces was not removed: ";
    fs::remove_all(temporary);
    prune(folder, checkpoint.step, keep);
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw std::runtime_error("checkpoint " + path.string() + outcome + error.what());
  }
  return path;
}

Checkpoint load_checkpoint(const fs::path& path, const std::string& config_hash) {
  std::string file = state_file;
  try {
    Checkpoint checkpoint;
    const auto state = read_state(path);
    checkpoint.step = state.at("step").get<int64_t>();
    checkpoint.config_hash = state.at("config_hash").get<std::string>();
    checkpoint.state_json = state.at("state").dump();
    if (step_of(path) && *step_of(path) != checkpoint.step) {
      throw std::runtime_error("it is of step " + std::to_string(checkpoint.step) + ", not of the folder's");
    }
    if (!config_hash.empty() && config_hash != checkpoint.config_hash) {
      throw std::runtime_error("it belongs to another run: config hash " + checkpoint.config_hash + ", this run has " +
                               config_hash);
    }
    for (const auto* name : {weights_file, optimizer_file, config_file}) {
      file = name;
      if (to_json(sum_file(path / name)) != state.at("files").at(name)) {
        throw std::runtime_error("size or checksum differs from state.json (torn or changed)");
      }
    }
    checkpoint.config_yaml = read_file(path / config_file);
    checkpoint.weights = load_safetensors(path / weights_file);
    checkpoint.optimizer = load_safetensors(path / optimizer_file);
    return checkpoint;
  } catch (const Json::exception&) {
    throw std::runtime_error("checkpoint " + path.string() + ": " + file +
                             ": a field is missing or has the wrong type");
  } catch (const std::exception& error) {
    throw std::runtime_error("checkpoint " + path.string() + ": " + file + ": " + error.what());
  }
}

std::optional<FoundCheckpoint> load_newest_checkpoint(const fs::path& folder, const std::string& config_hash) {
  std::vector<std::string> refused;
  auto paths = list_checkpoints(folder);
  while (!paths.empty()) {
    const auto path = paths.front();
    paths.erase(paths.begin());
    try {
      return FoundCheckpoint{load_checkpoint(path, config_hash), path, std::move(refused)};
    } catch (const std::runtime_error& error) {
      if (fs::exists(path)) {
        refused.emplace_back(error.what());
      } else {  // removed meanwhile by the run that writes here, which then has newer ones
        refused.clear();
        paths = list_checkpoints(folder);
      }
    }
  }
  if (refused.empty()) return std::nullopt;
  std::string text = "no usable checkpoint in " + folder.string() + ":";
  for (const auto& reason : refused) text += "\n  " + reason;
  throw std::runtime_error(text);
}

}  // namespace blockzoo
