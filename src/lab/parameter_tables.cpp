#include "blockzoo/lab/parameter_tables.h"

#include <ATen/ATen.h>
#include <spdlog/fmt/fmt.h>

#include <functional>
#include <map>
#include <optional>

#include "blockzoo/lab/catalog.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/nn/parameter.h"
#include "core/reader.h"

namespace blockzoo {
namespace {

/// Sizes that tell each other apart, also where two of them are multiplied or added, and what a table calls them.
const std::map<std::string, std::string> kSizes{
    {"heads", "4"},       {"kv_heads", "2"},        {"head_width", "10"},      {"hidden", "77"},
    {"query_rank", "17"}, {"key_value_rank", "13"}, {"nope_width", "8"},       {"rope_width", "6"},
    {"value_width", "9"}, {"unused_rows", "3"},     {"embedding_width", "30"}, {"layer_embedding_width", "21"}};

const std::map<int64_t, std::string> kSymbols{{1, "1"},
                                              {997, "V"},
                                              {60, "D"},
                                              {30, "E"},
                                              {50, "context"},
                                              {53, "unused_rows + context"},
                                              {32, "buckets"},
                                              {4, "H"},
                                              {2, "G"},
                                              {10, "K"},
                                              {40, "H K"},
                                              {20, "G K"},
                                              {77, "F"},
                                              {17, "query_rank"},
                                              {13, "key_value_rank"},
                                              {56, "H (nope_width + rope_width)"},
                                              {19, "key_value_rank + rope_width"},
                                              {68, "H (nope_width + value_width)"},
                                              {9, "value_width"},
                                              {36, "H value_width"},
                                              {21, "P"},
                                              {231, "layers P"}};

constexpr const char* kBase =
    "{vocabulary: 997, width: 60, layers: 11, context: 50, "
    "block: {attention: {kind: softmax, heads: 4, kv_heads: 2, head_width: 10}, ffn: {kind: glu, hidden: 77}}}";

/// Where the kinds of a family stand in a model, and which parameters are theirs.
struct Slot {
  std::string family;
  std::string path;
  std::string prefix;
};
const std::vector<Slot> kSlots{{"layout", "block.layout", "blocks.N."},
                               {"norm", "block.norm", "blocks.N.attention_norm."},
                               {"ffn", "block.ffn", "blocks.N.ffn."},
                               {"position", "block.position", "position"},
                               {"attention", "block.attention", "blocks.N.attention."}};

using Shapes = std::map<std::string, std::string>;

/// A setting of one key, and the tree that lays it over a model.
struct KeySetting {
  std::string text;
  Tree patch;
};

std::string shape_text(at::IntArrayRef sizes) {
  std::vector<std::string> words;
  for (const auto size : sizes) {
    const auto symbol = kSymbols.find(size);
    words.push_back(symbol == kSymbols.end() ? std::to_string(size) : symbol->second);
  }
  return fmt::format("[{}]", fmt::join(words, ", "));
}

/// The parameters, those of layers once; nothing when the config is refused.
std::optional<Shapes> shapes_of(const Tree& tree) {
  ModelConfig config;
  std::vector<Problem> problems;
  Reader(tree, "", problems).fill(config);
  if (!problems.empty()) return std::nullopt;
  const BornOn meta(at::kMeta);
  Shapes shapes;
  for (const auto& item : Model(config)->named_parameters()) {
    auto name = item.key();
    for (const std::string layers : {"blocks.", "position_"}) {
      if (name.starts_with(layers)) name.replace(layers.size(), name.find('.', layers.size()) - layers.size(), "N");
    }
    shapes[name] = shape_text(item.value().sizes());
  }
  return shapes;
}

/// Settings of a key that may add, drop or reshape parameters.
std::vector<KeySetting> settings_of(const CatalogField& field, const std::string& path) {
  std::vector<KeySetting> settings;
  const auto add = [&](const std::string& value) {
    settings.push_back({field.key + ": " + value,
                        nested(path.empty() ? field.key : path + "." + field.key, parse_yaml(value, "a setting"))});
  };
  if (field.type == "true or false") add(field.default_value == "true" ? "false" : "true");
  if (const auto size = kSizes.find(field.key); size != kSizes.end() && (field.default_value == "0" || path.empty()))
    add(size->second);
  for (const auto& family : catalog().families) {
    if (family.name != field.type || family.plain) continue;
    for (const auto& kind : family.kinds) {
      if (field.default_value != "{kind: " + kind.name + "}") add("{kind: " + kind.name + "}");
    }
  }
  return settings;
}

/// What a setting is called where its value is only an example.
std::string condition(const std::string& setting) {
  const auto key = setting.substr(0, setting.find(':'));
  return kSizes.count(key) ? "`" + key + "` is given" : "`" + setting + "`";
}

/// One table: the parameters of `base`, and those that each setting adds, drops or reshapes.
std::string table(const Tree& base, const std::vector<KeySetting>& settings,
                  const std::function<bool(const std::string&)>& is_ours) {
  struct Row {
    std::string shape;
    std::vector<std::string> when, unless;
  };
  const auto plain = shapes_of(base).value();
  std::map<std::pair<std::string, std::string>, Row> rows;  // by name and shape
  for (const auto& [name, shape] : plain) {
    if (is_ours(name)) rows[{name, shape}].shape = shape;
  }
  for (const auto& [text, patch] : settings) {
    const auto changed = shapes_of(overlay(base, patch));
    if (!changed) continue;
    for (const auto& [name, shape] : *changed) {
      const auto before = plain.find(name);
      if (is_ours(name) && (before == plain.end() || before->second != shape))
        rows[{name, shape}].when.push_back(condition(text));
    }
    for (const auto& [name, shape] : plain) {
      const auto after = changed->find(name);
      if (is_ours(name) && (after == changed->end() || after->second != shape))
        rows[{name, shape}].unless.push_back(condition(text));
    }
  }
  if (rows.empty()) return "No parameters.\n\n";
  std::string out = "| parameter | shape | there |\n| --- | --- | --- |\n";
  for (const auto& [key, row] : rows) {
    const auto there = !row.when.empty()     ? fmt::format("when {}", fmt::join(row.when, " or "))
                       : !row.unless.empty() ? fmt::format("unless {}", fmt::join(row.unless, " or "))
                                             : std::string("always");
    out += fmt::format("| `{}` | {} | {} |\n", key.first, key.second, there);
  }
  return out + "\n";
}

/// Lays a kind over the model, every size that it takes given.
Tree with_kind(const Slot& slot, const CatalogKind& kind) {
  Tree patch = Tree::map();
  patch["kind"] = Tree::scalar(kind.name);
  for (const auto& field : kind.fields) {
    const auto size = kSizes.find(field.key);
    if (size != kSizes.end() && field.default_value != "0") patch[field.key] = Tree::scalar(size->second);
  }
  return overlay(parse_yaml(kBase, "the model of the tables"), nested(slot.path, patch));
}

bool belongs(const Slot& slot, const std::string& name) {
  if (!name.starts_with(slot.prefix)) return false;
  return slot.family != "layout" || (!name.starts_with("blocks.N.attention.") && !name.starts_with("blocks.N.ffn."));
}

}  // namespace

std::string parameter_tables() {
  std::string out =
      "# Names and shapes of parameters\n\n"
      "Written by `blockzoo list --parameters` from built models; a test fails when this page is stale. The names are "
      "those of\n"
      "checkpoints and of `blockzoo logits`. Matrices are [out, in], as in PyTorch.\n\n"
      "N counts layers from 0. V `vocabulary`, D `width`, E `embedding_width`, H `heads`, G `kv_heads`, K "
      "`head_width`,\n"
      "F `hidden`, P `layer_embedding_width`; other sizes are called by their keys. A layer whose override has a "
      "position encoding\n"
      "of its own with parameters keeps them under `position_N`. A layer with `reuse_keys_values` has neither keys nor "
      "values\n"
      "nor their norms. A norm has the same parameters wherever it stands; the tables of "
      "`norm` show\n"
      "the one before the attention.\n\n"
      "## The model around its blocks\n\n";
  const auto base = parse_yaml(kBase, "the model of the tables");
  std::vector<KeySetting> settings;
  for (const auto& section : catalog().sections) {
    if (section.name != "model") continue;
    for (const auto& field : section.fields) {
      for (auto& setting : settings_of(field, "")) settings.push_back(std::move(setting));
    }
  }
  out += table(base, settings,
               [](const std::string& name) { return !name.starts_with("blocks.") && !name.starts_with("position"); });
  std::erase_if(settings, [](const KeySetting& setting) { return !setting.text.starts_with("layer_embedding_width"); });
  for (const auto& section : catalog().sections) {
    if (section.name != "model.block") continue;
    for (const auto& field : section.fields) {
      for (auto& setting : settings_of(field, "block")) settings.push_back(std::move(setting));
    }
  }
  out += "## What a block of any layout may have\n\n";
  out += table(base, settings, [](const std::string& name) {
    return name.starts_with("blocks.N.layer_input.") || name == "blocks.N.output_factor";
  });
  for (const auto& slot : kSlots) {
    out += fmt::format("## {}\n\n", slot.family);
    const auto chosen = select(catalog(), slot.family);
    for (const auto& kind : chosen.families.front().kinds) {
      settings.clear();
      for (const auto& field : kind.fields) {
        for (auto& setting : settings_of(field, slot.path)) settings.push_back(std::move(setting));
      }
      out += fmt::format("### `{}`\n\n", kind.name);
      out += table(with_kind(slot, kind), settings, [&](const std::string& name) { return belongs(slot, name); });
    }
  }
  out.pop_back();
  return out;
}

}  // namespace blockzoo
