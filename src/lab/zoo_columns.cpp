#include "lab/zoo_columns.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

namespace blockzoo {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

/// Two decimals at most, without trailing zeros.
std::string short_number(double value) {
  auto text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

ZooCell word(std::string text) { return {text, {text}}; }
ZooCell figure(double value) { return {short_number(value), {}, value}; }
ZooCell whole(int64_t value) { return {with_commas(value), {}, static_cast<double>(value)}; }

/// "a" where all layers agree, else "24x a, 8x b".
ZooCell by_layer(const ZooModel& model, const std::function<ZooCell(const BlockConfig&)>& of_layer) {
  std::vector<std::pair<ZooCell, int>> found;
  for (const auto& layer : expand_layers(model.config.model)) {
    const auto cell = of_layer(layer);
    const auto same = [&](const auto& entry) { return entry.first.text == cell.text; };
    auto entry = std::find_if(found.begin(), found.end(), same);
    if (entry == found.end()) entry = found.insert(entry, {cell, 0});
    ++entry->second;
  }
  if (found.size() == 1) return found.front().first;
  ZooCell all{.text = "", .number = found.front().first.number, .same_in_all_layers = false};
  std::vector<std::string> parts;
  for (const auto& [cell, count] : found) {
    parts.push_back(fmt::format("{}x {}", count, cell.text));
    all.words.insert(all.words.end(), cell.words.begin(), cell.words.end());
  }
  all.text = joined(parts, ", ");
  return all;
}

template <class... Kinds>
std::string kind_of(const std::variant<Kinds...>& choice) {
  return std::visit([](const auto& kind) { return std::string(kind.kind); }, choice);
}

ZooCell norm(const BlockConfig& block) {
  auto cell = word(kind_of(block.norm));
  const auto note = [&](bool holds, const std::string& text) {
    if (!holds) return;
    cell.text += ", " + text;
    cell.words.push_back(text);
  };
  std::visit(
      [&](const auto& config) {
        if constexpr (requires { config.gain; }) note(!config.gain, "no gain");
        if constexpr (requires { config.bias; }) note(!config.bias, "no bias");
        if constexpr (requires { config.unit_offset; }) note(config.unit_offset, "1 + gain");
      },
      block.norm);
  return cell;
}

ZooCell position(const BlockConfig& block) {
  auto cell = word(kind_of(block.position));
  const auto* rope = std::get_if<RopePositionConfig>(&block.position);
  if (rope == nullptr) return cell;
  const auto share = rope->rotary_fraction * (1 - rope->still_fraction);
  if (share != 1) cell.text += " " + short_number(100 * share) + " %", cell.words.push_back("partial");
  if (const auto scaling = kind_of(rope->scaling); scaling != NoRopeScaling::kind)
    cell.text += " " + scaling, cell.words.push_back(scaling);
  return cell;
}

ZooCell theta(const BlockConfig& block) {
  const auto* rope = std::get_if<RopePositionConfig>(&block.position);
  return rope == nullptr ? ZooCell{"-"} : ZooCell{fmt::format("{}", rope->theta), {}, rope->theta};
}

ZooCell attention(const BlockConfig& block) {
  const auto* softmax = std::get_if<SoftmaxAttentionConfig>(&block.attention);
  if (softmax == nullptr) {
    const auto& latent = std::get<LatentAttentionConfig>(block.attention);
    return {fmt::format("MLA {}", latent.heads), {"MLA"}, static_cast<double>(latent.heads)};
  }
  const auto heads = softmax->heads, key_heads = softmax->key_heads();
  const std::string name = key_heads == heads ? "MHA" : key_heads == 1 ? "MQA" : "GQA";
  const auto text =
      key_heads == heads ? fmt::format("{} {}", name, heads) : fmt::format("{} {}/{}", name, heads, key_heads);
  ZooCell cell{text, {name}, static_cast<double>(heads)};
  if (softmax->keys_as_values) cell.text += " k = v", cell.words.push_back("k = v");
  if (softmax->reuse_keys_values) cell.text += " reused k v", cell.words.push_back("reused k v");
  return cell;
}

/// K; for latent attention the channels of a query.
int64_t head_width(const BlockConfig& block, int64_t width) {
  return std::visit(
      [&](const auto& attention) {
        if constexpr (requires { attention.width_of_head(width); }) return attention.width_of_head(width);
        if constexpr (requires { attention.still_width(width); })
          return attention.still_width(width) + attention.rotary_width(width);
      },
      block.attention);
}

int64_t hidden_width(const BlockConfig& block, int64_t width) {
  return std::visit([&]<class Kind>(const Kind& ffn) { return ffn.resolve(width, Kind::default_ratio); }, block.ffn);
}

ZooCell ffn(const BlockConfig& block) {
  const auto kind = kind_of(block.ffn);
  const auto activation = std::string(name_of(std::visit([](const auto& ffn) { return ffn.activation; }, block.ffn)));
  return {kind + " " + activation, {kind, activation}};
}

/// Which projections carry a bias.
ZooCell biases(const ZooModel& model) {
  auto cell = by_layer(model, [](const BlockConfig& block) {
    std::vector<std::string> parts;
    const auto note = [&](bool holds, const char* part) {
      if (holds) parts.emplace_back(part);
    };
    std::visit(
        [&](const auto& attention) {
          if constexpr (requires { attention.query_bias; }) {
            note(attention.query_bias, "q");
            note(attention.key_bias, "k");
            note(attention.value_bias, "v");
          }
          note(attention.output_bias, "o");
        },
        block.attention);
    note(std::visit([](const auto& ffn) { return ffn.bias; }, block.ffn), "ffn");
    return parts.empty() ? word("none") : ZooCell{joined(parts, " "), parts};
  });
  if (!model.config.model.head_bias) return cell;
  cell.text = cell.text == "none" ? "head" : cell.text + " head";
  cell.words.emplace_back("head");
  return cell;
}

ZooCell window(const BlockConfig& block) {
  const auto keys = std::visit([](const auto& attention) { return attention.window; }, block.attention);
  return keys == 0 ? ZooCell{"full", {"full"}, 0}
                   : ZooCell{std::to_string(keys), {"window"}, static_cast<double>(keys)};
}

/// What keeps activations, scores and logits within bounds, beside the block's norm.
ZooCell stabilisers(const ZooModel& model) {
  const auto& config = model.config.model;
  std::vector<std::string> parts, words;
  const auto note = [&](const std::string& name, const std::string& value) {
    parts.push_back(value.empty() ? name : name + " " + value);
    words.push_back(name);
  };
  std::vector<std::string> seen;
  for (const auto& layer : expand_layers(config)) {
    const auto* softmax = std::get_if<SoftmaxAttentionConfig>(&layer.attention);
    if (softmax == nullptr) continue;
    const auto once = [&](const std::string& name, const std::string& value) {
      if (std::find(seen.begin(), seen.end(), name + value) != seen.end()) return;
      seen.push_back(name + value);
      note(name, value);
    };
    if (const auto kind = kind_of(softmax->qk_norm); kind != NoQkNormConfig::kind) once("qk_norm", kind);
    if (const auto kind = kind_of(softmax->value_norm); kind != NoNormConfig::kind) once("value_norm", "");
    if (softmax->softcap > 0) once("softcap", short_number(softmax->softcap));
    if (layer.residual_scale != 1) once("residual_scale", short_number(layer.residual_scale));
    if (layer.output_factor) once("output_factor", "");
  }
  if (kind_of(config.embedding_norm) != NoNormConfig::kind) note("embedding_norm", "");
  if (kind_of(config.embedding_scale) != NoScale::kind) note("embedding_scale", "");
  if (kind_of(config.logit_scale) != NoScale::kind) note("logit_scale", "");
  if (config.final_softcap > 0) note("final_softcap", short_number(config.final_softcap));
  if (const auto z = model.config.train.loss.z_loss; z > 0) note("z_loss", fmt::format("{:g}", z));
  return parts.empty() ? word("none") : ZooCell{joined(parts, ", "), words};
}

ZooCell dropout(const ZooModel& model) {
  const auto& config = model.config.model;
  const auto most = std::max(config.embedding_dropout, config.block.dropout);
  return figure(most);
}

ZooCell decay(const ZooModel& model) {
  if (!model.decay_is_told) return word("not told");
  return figure(std::get<AdamwConfig>(model.config.train.optimizer).weight_decay);
}

const ModelConfig& of(const ZooModel& model) { return model.config.model; }

double over_width(int64_t size, const ZooModel& model) {
  return static_cast<double>(size) / static_cast<double>(of(model).width);
}

std::function<ZooCell(const ZooModel&)> each_layer(ZooCell (*of_layer)(const BlockConfig&)) {
  return [of_layer](const ZooModel& model) { return by_layer(model, of_layer); };
}

}  // namespace

std::string with_commas(int64_t number) {
  auto text = std::to_string(number);
  for (auto at = static_cast<int64_t>(text.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

const std::vector<ZooColumn>& zoo_columns() {
  static const std::vector<ZooColumn> columns{
      {"name", "name", "as commands and files say it", true, [](const ZooModel& model) { return word(model.name); }},
      {"year", "year", "of the first release", true,
       [](const ZooModel& model) {
         if (!model.about.year) return ZooCell{"-"};
         return ZooCell{std::to_string(*model.about.year), {}, static_cast<double>(*model.about.year)};
       }},
      {"organisation", "by", "who made it", false,
       [](const ZooModel& model) { return word(model.about.organisation); }},
      {"parameters", "parameters", "as built here, each counted once", true,
       [](const ZooModel& model) { return whole(model.count.total); }},
      {"published", "published", "parameters of the published model", false,
       [](const ZooModel& model) { return model.about.parameters ? whole(*model.about.parameters) : ZooCell{"-"}; }},
      {"norm", "norm", "every norm of the block", true, each_layer(norm)},
      {"layout", "layout", "where the norms stand, serial or parallel", true,
       each_layer([](const BlockConfig& block) { return word(kind_of(block.layout)); })},
      {"position", "position", "how the order is known", true, each_layer(position)},
      {"theta", "RoPE theta", "base of RoPE's frequencies", false, each_layer(theta)},
      {"attention", "attention", "MHA, GQA, MQA or MLA, query heads / key heads", true, each_layer(attention)},
      {"ffn", "ffn", "gated or not, and the activation", true, each_layer(ffn)},
      {"ffn_ratio", "F / D", "hidden width over width", true,
       [](const ZooModel& model) {
         return by_layer(model, [&](const BlockConfig& block) {
           return figure(over_width(hidden_width(block, of(model).width), model));
         });
       }},
      {"aspect", "D / layers", "width over layers", true,
       [](const ZooModel& model) {
         return figure(static_cast<double>(of(model).width) / static_cast<double>(of(model).layers));
       }},
      {"head_ratio", "H K / D", "heads times head width over width", true,
       [](const ZooModel& model) {
         return by_layer(model, [&](const BlockConfig& block) {
           const auto heads = position_dims(block, {.model = of(model).width}).heads;
           return figure(over_width(heads * head_width(block, of(model).width), model));
         });
       }},
      {"head_width", "head width", "channels of a head", false,
       [](const ZooModel& model) {
         return by_layer(model, [&](const BlockConfig& block) { return whole(head_width(block, of(model).width)); });
       }},
      {"layers", "layers", "blocks in the stack", false, [](const ZooModel& model) { return whole(of(model).layers); }},
      {"width", "width", "model width", false, [](const ZooModel& model) { return whole(of(model).width); }},
      {"layer_embedding", "layer embedding", "channels of the embedding that every layer has of its own", false,
       [](const ZooModel& model) { return whole(of(model).layer_embedding_width); }},
      {"vocabulary", "vocabulary", "token ids", true,
       [](const ZooModel& model) { return whole(of(model).vocabulary); }},
      {"context", "context", "longest sequence, tokens", true,
       [](const ZooModel& model) { return whole(of(model).context); }},
      {"tied", "tied", "the head is the token table", true,
       [](const ZooModel& model) { return word(of(model).tied ? "yes" : "no"); }},
      {"biases", "biases", "projections that have one", true, biases},
      {"window", "window", "keys that a query sees", true, each_layer(window)},
      {"stabilisers", "stabilisers", "what bounds activations, scores and logits", true, stabilisers},
      {"dropout", "dropout", "share dropped from the stream in training", false, dropout},
      {"decay", "decay", "weight decay of the optimizer, where it is published", false, decay},
      {"missing", "missing", "what the published model has and this one has not", false, [](const ZooModel& model) {
         return model.about.missing.empty() ? word("nothing") : ZooCell{model.about.missing, {"something"}};
       }}};
  return columns;
}

}  // namespace blockzoo
