#include "blockzoo/nn/model_config.h"

#include <cmath>
#include <set>

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
  std::vector<Problem> problems;
};

Expanded expand(const ModelConfig& config) {
  Expanded result;
  std::vector<Tree> trees(static_cast<size_t>(config.layers), to_tree(config.block));
  for (size_t i = 0; i < config.overrides.size(); ++i) {
    const auto& entry = config.overrides[i];
    const auto path = "overrides." + std::to_string(i);
    std::set<int64_t> chosen;
    if (const auto problem = parse_layers(entry.layers, config.layers, chosen))
      result.problems.push_back({entry.layers.place, path + ".layers", *problem});
    if (!entry.block.is_map() || entry.block.entries.empty())
      result.problems.push_back({entry.block.place, path + ".block", "must be a map of the block's keys that differ"});
    if (!result.problems.empty()) continue;
    for (const auto layer : chosen) {
      auto& tree = trees[static_cast<size_t>(layer)];
      const Tree before = tree;
      tree = overlay(tree, entry.block);
      if (tree == before)
        result.problems.push_back({entry.block.place, path + ".block", "changes nothing in layer " + std::to_string(layer)});
    }
    BlockConfig probe;
    std::vector<Problem> problems;
    Reader(trees[static_cast<size_t>(*chosen.begin())], path + ".block", problems).fill(probe);
    for (auto& problem : problems) {
      if (problem.place.line == 0) problem.place = entry.block.place;
      result.problems.push_back(std::move(problem));
    }
    if (std::visit([](const auto& position) { return position.acts_on_embedding; }, probe.position) &&
        entry.block.find("position") != nullptr)
      result.problems.push_back({entry.block.place, path + ".block.position",
                                 "acts on the embedding, so it cannot differ by layer; set it in block.position"});
  }
  if (!result.problems.empty()) return result;
  for (const auto& tree : trees) result.blocks.push_back(read_config<BlockConfig>(tree));
  return result;
}

/// What the parts of one block must be to fit the model's width.
void check_block(const BlockConfig& block, int64_t width, const std::string& where, std::vector<Problem>& problems) {
  const auto note = [&](const std::string& key, const std::string& message) {
    problems.push_back({{}, "block." + key, message + where});
  };
  const bool needs_division = std::visit(
      []<class T>(const T& attention) {
        if constexpr (std::is_same_v<T, SoftmaxAttentionConfig>) return !attention.head_width;
        if constexpr (std::is_same_v<T, LatentAttentionConfig>) return !attention.nope_width || !attention.value_width;
      },
      block.attention);
  const auto dims = position_dims(block, {.model = width, .context = 1});
  if (needs_division && width % dims.heads != 0) {
    note("attention.heads", "is " + std::to_string(dims.heads) + ", which does not divide width " + std::to_string(width) +
                                "; choose a divisor or give the head's width");
    return;
  }
  if (const auto* rope = std::get_if<RopePositionConfig>(&block.position)) {
    if (const auto problem = rope_problem(*rope, dims.rotary_width); !problem.empty())
      note("position.rotary_fraction", problem);
  }
}

}  // namespace

std::vector<Problem> problems_of(const ModelConfig& config) {
  auto expanded = expand(config);
  auto& problems = expanded.problems;
  if (!problems.empty()) return problems;
  check_block(config.block, config.width, "", problems);
  if (!problems.empty()) return problems;
  for (size_t layer = 0; layer < expanded.blocks.size() && problems.empty(); ++layer)
    check_block(expanded.blocks[layer], config.width, " (in layer " + std::to_string(layer) + ", overridden)", problems);
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

ModelConfig resolved(const ModelConfig& config) {
  if (auto problems = problems_of(config); !problems.empty()) throw ConfigError(std::move(problems));
  ModelConfig full = config;
  const auto width = config.width;
  if (!full.embedding_width) full.embedding_width = width;
  if (!full.final_norm) full.final_norm = config.block.norm;
  std::visit([&](auto& attention) { attention = attention.resolved(width); }, full.block.attention);
  std::visit(
      [&]<class Kind>(Kind& ffn) {
        ffn.hidden = ffn.resolve(width, Kind::default_ratio);
        ffn.ratio.reset();
        ffn.multiple_of = 1;
        ffn.rounding = Rounding::kUp;
      },
      full.block.ffn);
  return full;
}

ModelConfig load_model_config(const std::filesystem::path& path) {
  const auto document = load_yaml(path);
  const auto* section = document.find("model");
  if (section == nullptr) throw ConfigError(Problem{{path.string(), 0, 0}, "model", "is missing; the file must have a model: section"});
  std::vector<Problem> problems;
  ModelConfig config;
  Reader(*section, "model", problems).fill(config);
  if (!problems.empty()) throw ConfigError(std::move(problems));
  return config;
}

}  // namespace blockzoo
