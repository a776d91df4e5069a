#include "blockzoo/nn/model_config.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "blockzoo/nn/smaller.h"
#include "core/document.h"
#include "core/reader.h"
#include "core/writer.h"

namespace blockzoo {
namespace {

/// Layer numbers named by `spec`, or a message.
std::optional<std::string> parse_layers(const Tree& spec, int64_t layers, std::set<int64_t>& chosen) {
  const std::string allowed = "must be a list of layers such as [0, 3], or start:stop:step in quotes, such as '3::4'";
  const auto add = [&](int64_t layer) -> std::optional<std::string> {
    if (layer < -layers || layer >= layers)
      return "names layer " + std::to_string(layer) + ", but the model has layers 0 to " + std::to_string(layers - 1);
    chosen.insert(layer < 0 ? layer + layers : layer);
    return std::nullopt;
  };
  for (const auto& item : spec.items) {
    const auto layer = item.is_scalar() ? parse_integer(item.text) : std::nullopt;
    if (!layer) return allowed;
    if (const auto problem = add(*layer)) return problem;
  }
  if (spec.is_list()) return chosen.empty() ? std::optional(allowed) : std::nullopt;
  if (!spec.is_scalar() || spec.text.find(':') == std::string::npos) return allowed;
  std::vector<std::optional<int64_t>> parts;
  std::string rest = spec.text + ":";
  for (size_t colon; (colon = rest.find(':')) != std::string::npos; rest = rest.substr(colon + 1)) {
    const auto part = rest.substr(0, colon);
    const auto number = parse_integer(part);
    if (!part.empty() && !number) return allowed;
    parts.push_back(number);
  }
  if (parts.size() > 3) return allowed;
  parts.resize(3);
  const auto bound = [&](std::optional<int64_t> value, int64_t missing) {
    const auto at = value.value_or(missing);
    return std::clamp<int64_t>(at < 0 ? at + layers : at, 0, layers);
  };
  const auto step = parts[2].value_or(1);
  if (step < 1) return "has step " + std::to_string(step) + "; a step is 1 or more";
  for (auto layer = bound(parts[0], 0); layer < bound(parts[1], layers); layer += step) chosen.insert(layer);
  if (chosen.empty()) return "names no layer of " + std::to_string(layers);
  return std::nullopt;
}

struct Expanded {
  std::vector<BlockConfig> blocks;
  std::map<size_t, size_t> last_override;  // of each layer that has one
  std::vector<Problem> problems;
};

bool acts_on_embedding(const PositionConfig& config) {
  return std::visit([](const auto& position) { return position.acts_on_embedding; }, config);
}

/// The block with every `auto` replaced by what it stands for.
BlockConfig resolved(BlockConfig block, int64_t width) {
  std::visit([&](auto& attention) { attention = attention.resolved(width); }, block.attention);
  std::visit(
      [&]<class Kind>(Kind& ffn) {
        ffn.hidden = ffn.resolve(width, Kind::default_ratio);
        ffn.ratio.reset();
        ffn.multiple_of = 1;
        ffn.rounding = Rounding::kUp;
      },
      block.ffn);
  return block;
}

/// Lays one override over the layers that it chooses.
void apply(size_t index, const ModelConfig& config, Expanded& result) {
  const auto& entry = config.overrides[index];
  const auto path = "overrides." + std::to_string(index);
  const auto note = [&](const Place& place, const std::string& key, const std::string& message) {
    result.problems.push_back({place, path + key, message});
  };
  std::set<int64_t> chosen;
  if (const auto problem = parse_layers(entry.layers, config.layers, chosen))
    note(entry.layers.place, ".layers", *problem);
  if (!entry.block.is_map() || entry.block.entries.empty())
    note(entry.block.place, ".block", "must be a map of the block's keys that differ");
  if (!result.problems.empty()) return;
  for (const auto layer : chosen) {
    auto& block = result.blocks[static_cast<size_t>(layer)];
    const bool embedded = acts_on_embedding(block.position);
    BlockConfig changed;
    std::vector<Problem> problems;
    const auto tree = overlay(to_tree(block), entry.block);
    Reader(tree, path + ".block", problems).fill(changed);
    if (!problems.empty()) {  // the other layers would say the same
      for (auto& problem : problems) {
        if (problem.place.line == 0) problem.place = entry.block.place;
        result.problems.push_back(std::move(problem));
      }
      return;
    }
    if (to_tree(resolved(changed, config.width)) == to_tree(resolved(block, config.width)))
      note(entry.block.place, ".block", "changes nothing in layer " + std::to_string(layer));
    block = std::move(changed);
    result.last_override[static_cast<size_t>(layer)] = index;
    if (entry.block.find("position") == nullptr) continue;
    if (acts_on_embedding(block.position)) {
      note(entry.block.place, ".block.position",
           "acts on the embedding, so it cannot differ by layer; set it in block.position");
      return;
    }
    if (embedded && std::holds_alternative<NoPositionConfig>(block.position)) {
      note(entry.block.place, ".block.position",
           "changes nothing; the block's position acts on the embedding, before any layer");
      return;
    }
  }
}

Expanded expand(const ModelConfig& config) {
  Expanded result{
      std::vector<BlockConfig>(static_cast<size_t>(config.layers), read_config<BlockConfig>(to_tree(config.block))),
      {},
      {}};
  for (size_t i = 0; i < config.overrides.size() && result.problems.empty(); ++i) apply(i, config, result);
  return result;
}

bool reuses_keys_values(const BlockConfig& block) {
  return std::visit([](const auto& attention) { return attention.reuse_keys_values; }, block.attention);
}

/// Every layer that reuses keys and values must find some.
void check_sources(const ModelConfig& config, const Expanded& expanded, std::vector<Problem>& problems) {
  std::vector<BlockConfig> layers;
  for (const auto& layer : expanded.blocks) layers.push_back(resolved(layer, config.width));
  const auto sources = key_value_sources(layers);
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    if (!reuses_keys_values(layers[layer]) || sources[layer]) continue;
    const auto entry = expanded.last_override.find(layer);
    const auto path =
        entry == expanded.last_override.end() ? "block" : "overrides." + std::to_string(entry->second) + ".block";
    problems.push_back({{},
                        path + ".attention.reuse_keys_values",
                        "finds no layer before layer " + std::to_string(layer) +
                            " that has keys and values of its own, with equal attention and position"});
    return;  // the other layers would say the same
  }
}

/// What the parts of one block must be to fit the model's width.
void check_block(const BlockConfig& block, int64_t width, const std::string& path, const std::string& where,
                 std::vector<Problem>& problems) {
  const auto note = [&](const std::string& key, const std::string& message) {
    problems.push_back({{}, path + "." + key, message + where});
  };
  const bool needs_division = std::visit(
      []<class T>(const T& attention) {
        if constexpr (std::is_same_v<T, SoftmaxAttentionConfig>) return !attention.head_width;
        if constexpr (std::is_same_v<T, LatentAttentionConfig>) return !attention.nope_width || !attention.value_width;
      },
      block.attention);
  const auto dims = position_dims(block, {.model = width, .context = 1});
  if (needs_division && width % dims.heads != 0) {
    note("attention.heads", "is " + std::to_string(dims.heads) + ", which does not divide width " +
                                std::to_string(width) + "; choose a divisor or give the head's width");
    return;
  }
  if (const auto* rope = std::get_if<RopePositionConfig>(&block.position)) {
    if (const auto problem = rope_problem(*rope, dims.rotary_width); !problem.empty())
      note("position.rotary_fraction", problem);
    if (const auto problem = still_problem(*rope, dims.rotary_width); !problem.empty())
      note("position.still_fraction", problem);
  }
}

}  // namespace

std::vector<Problem> problems_of(const ModelConfig& config) {
  auto expanded = expand(config);
  auto& problems = expanded.problems;
  if (!problems.empty()) return problems;
  check_block(config.block, config.width, "block", "", problems);
  if (!problems.empty()) return problems;
  for (const auto& [layer, entry] : expanded.last_override) {
    check_block(expanded.blocks[layer], config.width, "overrides." + std::to_string(entry) + ".block",
                " (in layer " + std::to_string(layer) + ")", problems);
    if (!problems.empty()) break;  // the other layers would say the same
  }
  if (problems.empty()) check_sources(config, expanded, problems);
  if (config.embedding_width && *config.embedding_width > config.width)
    problems.push_back({{}, "embedding_width", "is above width, which is " + std::to_string(config.width)});
  if (config.tied && !(to_tree(config.init.head) == to_tree(InitConfig{}.head)))
    problems.push_back({{}, "init.head", "has no effect when tied is true; the head is the token table"});
  return problems;
}

std::vector<BlockConfig> expand_layers(const ModelConfig& config) {
  auto expanded = expand(config);
  if (!expanded.problems.empty()) throw ConfigError(std::move(expanded.problems));
  return std::move(expanded.blocks);
}

std::vector<std::optional<size_t>> key_value_sources(const std::vector<BlockConfig>& layers) {
  struct Own {
    Tree attention, position;
    size_t layer;
  };
  std::vector<Own> own;  // the last of each attention and position
  std::vector<std::optional<size_t>> sources(layers.size());
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    auto attention = layers[layer].attention;
    std::visit([](auto& kind) { kind.reuse_keys_values = false; }, attention);
    const Own found{to_tree(attention), to_tree(layers[layer].position), layer};
    const auto equal = std::find_if(own.begin(), own.end(), [&](const Own& entry) {
      return entry.attention == found.attention && entry.position == found.position;
    });
    if (reuses_keys_values(layers[layer])) {
      if (equal != own.end()) sources[layer] = equal->layer;
    } else if (equal != own.end()) {
      equal->layer = layer;
    } else {
      own.push_back(found);
    }
  }
  return sources;
}

std::vector<LayerOverride> overrides_from(const BlockConfig& block, const std::vector<BlockConfig>& layers) {
  std::vector<LayerOverride> overrides;
  const auto base = to_tree(block);
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    Tree patch = Tree::map();
    for (const auto& [key, value] : to_tree(layers[layer]).entries) {
      if (!(value == *base.find(key))) patch[key] = value;
    }
    if (patch.entries.empty()) continue;
    const auto same = [&](const LayerOverride& entry) { return entry.block == patch; };
    auto entry = std::find_if(overrides.begin(), overrides.end(), same);
    if (entry == overrides.end()) entry = overrides.insert(entry, {Tree::list(), patch});
    entry->layers.items.push_back(to_tree(static_cast<int64_t>(layer)));
  }
  return overrides;
}

ModelConfig resolved(const ModelConfig& config) {
  if (auto problems = problems_of(config); !problems.empty()) throw ConfigError(std::move(problems));
  ModelConfig full = config;
  const auto width = config.width;
  if (!full.embedding_width) full.embedding_width = width;
  if (!full.final_norm) full.final_norm = config.block.norm;
  full.block = resolved(config.block, width);
  // An `auto` follows what its layer says, not what the block says, so a layer that differs is written out in full.
  auto layers = expand_layers(config);
  for (auto& layer : layers) layer = resolved(layer, width);
  full.overrides = overrides_from(full.block, layers);
  return full;
}

ModelConfig load_model_config(const std::filesystem::path& path, const std::vector<std::string>& sets) {
  auto chain = with_bases(open_document({}, path));
  chain.push_back({parse_assignments(sets), {}});
  for (const auto& [key, value] : chain.back().tree.entries) {
    if (key != "model")
      throw ConfigError(Problem{value.place, key, "is no part of a model; only model.* can be set here"});
  }
  ModelConfig config;
  std::vector<Problem> problems;
  bool found = false;
  for (const auto& document : chain) {
    if (document.scale) config = smaller(config, *document.scale);
    const auto* section = document.tree.find("model");
    if (section == nullptr) continue;
    found = true;
    const auto whole = overlay(to_tree(config), *section);
    Reader(whole, "model", problems).fill(config);
    if (!problems.empty()) throw ConfigError(std::move(problems));
  }
  if (!found)
    throw ConfigError(Problem{{path.string(), 0, 0}, "model", "is missing; the file must have a model: section"});
  return config;
}

}  // namespace blockzoo
