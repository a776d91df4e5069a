#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "blockzoo/lab/settings.h"
#include "blockzoo/lab/studied_keys.h"
#include "blockzoo/lab/study.h"
#include "blockzoo/nn/flops.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/train/record.h"
#include "commands.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;

struct CheckArguments {
  std::string file;
  std::vector<std::string> sets;
  std::string scale;
  bool json = false;
};

/// Numbers and booleans as such, everything else as text.
Json to_json(const Tree& tree) {
  if (tree.is_map()) {
    auto map = Json::object();
    for (const auto& [key, value] : tree.entries) map[key] = to_json(value);
    return map;
  }
  if (tree.is_list()) {
    auto list = Json::array();
    for (const auto& item : tree.items) list.push_back(to_json(item));
    return list;
  }
  if (!tree.is_scalar()) return nullptr;
  auto value = tree.quoted ? Json(Json::value_t::discarded) : Json::parse(tree.text, nullptr, false);
  return value.is_discarded() ? Json(tree.text) : value;
}

/// One value a layer: "341", or "341 (layers 0-2, 4), 512 (layer 3)".
std::string by_layer(const std::vector<int64_t>& values) {
  std::vector<std::pair<int64_t, std::string>> groups;
  std::map<int64_t, size_t> group_of;
  for (size_t first = 0; first < values.size();) {
    size_t last = first;
    while (last + 1 < values.size() && values[last + 1] == values[first]) ++last;
    const auto [group, fresh] = group_of.try_emplace(values[first], groups.size());
    if (fresh) groups.emplace_back(values[first], "");
    auto& layers = groups[group->second].second;
    layers +=
        (layers.empty() ? "" : ", ") + (first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
    first = last + 1;
  }
  if (groups.size() == 1) return std::to_string(groups.front().first);
  std::string text;
  for (const auto& [value, layers] : groups)
    text += fmt::format("{}{} (layers {})", text.empty() ? "" : "; ", value, layers);
  return text;
}

/// Widths of every layer that a config leaves open or that follow from it.
std::vector<std::pair<std::string, std::vector<int64_t>>> widths(const ModelConfig& model) {
  std::vector<int64_t> heads, head_widths, hidden;
  for (const auto& block : expand_layers(resolved(model))) {
    const Dims dims{.model = model.width, .context = model.context};
    heads.push_back(position_dims(block, dims).heads);
    std::visit(
        [&]<class Attention>(const Attention& attention) {
          if constexpr (requires { attention.width_of_head(model.width); }) {
            head_widths.push_back(attention.width_of_head(model.width));
          } else {
            head_widths.push_back(attention.still_width(model.width) + attention.rotary_width(model.width));
          }
        },
        block.attention);
    hidden.push_back(std::visit(
        [&]<class Kind>(const Kind& ffn) { return ffn.resolve(model.width, Kind::default_ratio); }, block.ffn));
  }
  return {{"heads", heads}, {"head width", head_widths}, {"hidden width", hidden}};
}

std::string thousands(int64_t number) {
  auto digits = std::to_string(number);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

/// Lines behind '#', so that what is printed is YAML as a whole.
std::string difference_lines(const std::vector<Difference>& differences) {
  std::string text;
  for (const auto& [path, before, after] : differences)
    text += fmt::format("#   {}: {} instead of {}\n", path, after.empty() ? "absent" : after,
                        before.empty() ? "absent" : before);
  return text.empty() ? "#   nothing\n" : text;
}

Json difference_json(const std::vector<Difference>& differences) {
  auto list = Json::array();
  for (const auto& [path, before, after] : differences)
    list.push_back({{"path", path}, {"before", before}, {"after", after}});
  return list;
}

double training_flops_of(const RunConfig& config) {
  return static_cast<double>(config.train.steps) * training_flops(config.model, config.train.batch);
}

/// Forward FLOPs by part, in both conventions of attention pairs, and those of the whole training.
std::string describe_flops(const RunConfig& config) {
  const auto& model = config.model;
  auto text = fmt::format("#\n# FLOPs of one forward over {} tokens, 2 for each multiply-add of a matrix product\n",
                          model.context);
  text +=
      fmt::format("#   {:29}  {:>14}  {:>14}\n", "", name_of(AttentionPairs::kAll), name_of(AttentionPairs::kVisible));
  const auto all = forward_flops(model, model.context);
  const auto visible = forward_flops(model, model.context, AttentionPairs::kVisible);
  const auto line = [&](std::string_view name, double first, double second) {
    text += fmt::format("#   {:29}  {:>14.4g}  {:>14.4g}\n", name, first, second);
  };
  for (size_t i = 0; i < all.parts().size(); ++i)
    line(all.parts()[i].first, all.parts()[i].second, visible.parts()[i].second);
  line("total", all.total(), visible.total());
  return text + fmt::format("#\n# training FLOPs ({})\n#   {:29}  {:>14.4g}\n", kTrainingFlopsConvention,
                            fmt::format("{} steps", config.train.steps), training_flops_of(config));
}

std::string describe_run(const RunConfig& config) {
  const auto& model = config.model;
  std::string text = "#\n# what follows from it\n";
  for (const auto& [name, values] : widths(model)) text += fmt::format("#   {:14}  {:>14}\n", name, by_layer(values));
  const auto count = count_parameters(model);
  text += "#\n# parameters\n";
  for (const auto& [part, number] : count.by_part) text += fmt::format("#   {:14}  {:>14}\n", part, thousands(number));
  text += fmt::format("#   {:14}  {:>14}\n", "total", thousands(count.total));
  text += fmt::format("#   {:14}  {:>14}  (nor positions, nor head)\n", "no embeddings",
                      thousands(without_embeddings(count.by_part)));
  return text + describe_flops(config);
}

Json flops_json(const Flops& flops) {
  Json json = Json::object();
  for (const auto& [part, number] : flops.parts()) json[part] = number;
  json["total"] = flops.total();
  return json;
}

Json derived_json(const RunConfig& config) {
  const auto& model = config.model;
  Json layers = Json::object();
  for (const auto& [name, values] : widths(model)) layers[name] = values;
  const auto count = count_parameters(model);
  return {
      {"by_layer", layers},
      {"parameters",
       {{"total", count.total}, {"without_embeddings", without_embeddings(count.by_part)}, {"by_part", count.by_part}}},
      {"forward_flops",
       {{"tokens", model.context},
        {name_of(AttentionPairs::kAll), flops_json(forward_flops(model, model.context))},
        {name_of(AttentionPairs::kVisible),
         flops_json(forward_flops(model, model.context, AttentionPairs::kVisible))}}},
      {"training_flops", training_flops_of(config)},
      {"training_flops_convention", kTrainingFlopsConvention}};
}

Json match_json(const Match& match) {
  return {{"by", name_of(match.by)}, {"using", match.key},       {"value", match.value},
          {"target", match.target},  {"reached", match.reached}, {"residue", match.residue()}};
}

void check_run(const CheckArguments& arguments) {
  const auto config = load_run_config(arguments.file, arguments.sets, arguments.scale);
  const auto base = load_run_base(arguments.file, arguments.scale);
  const auto full = to_document(resolved(config));
  const auto changed = differences(to_document(resolved(base.config)), full);
  if (arguments.json) {
    Json json = {{"valid", true}, {"kind", "run"}, {"config", to_json(full)}, {"derived", derived_json(config)}};
    json["base"] = base.name;
    json["differences"] = difference_json(changed);
    std::cout << json.dump(2) << "\n";
    return;
  }
  std::cout << fmt::format("# {}: a valid run; everything that it leaves open, filled in:\n", arguments.file)
            << write_yaml(full) << describe_run(config) << "#\n# differs from " << base.name << "\n"
            << difference_lines(changed);
}

void check_study(const CheckArguments& arguments) {
  if (!arguments.scale.empty())
    throw ConfigError(
        Problem{{arguments.file, 0, 0}, "--scale", "is for runs; a study says base: {base: ..., scale: ...}"});
  const auto study = load_study(arguments.file, arguments.sets);
  const auto base = to_document(resolved(study.base));
  auto runs = Json::array();
  std::string text = fmt::format("# {}: a valid study of {} runs; its base, everything filled in:\n", arguments.file,
                                 study.runs.size());
  text += write_yaml(base) + describe_run(study.base) + "#\n# runs, and how they differ from the base\n";
  for (const auto& setting : settings_of(study)) {
    const auto& run = *setting.run;
    text += fmt::format("# {}, {} parameters, {:.4g} training FLOPs\n", setting.title(),
                        thousands(count_parameters(run.config.model).total), training_flops_of(run.config));
    if (run.match) text += fmt::format("#   {} {}, {}\n", run.match->key, run.match->value, describe(*run.match));
    text += difference_lines(run.differences);
  }
  const auto changes = mixed_changes(study);
  if (!changes.empty()) text += "#\n";
  for (const auto& sentence : changes) text += "# " + sentence + "\n";
  for (const auto& run : study.runs) {
    runs.push_back({{"arm", run.arm},
                    {"seed", run.seed},
                    {"folder", run.folder.generic_string()},
                    {"parameters", count_parameters(run.config.model).total},
                    {"training_flops", training_flops_of(run.config)},
                    {"match", run.match ? match_json(*run.match) : Json(nullptr)},
                    {"differences", difference_json(run.differences)}});
  }
  if (arguments.json) {
    const Json json = {{"valid", true},
                       {"kind", "study"},
                       {"name", study.name},
                       {"base", to_json(base)},
                       {"derived", derived_json(study.base)},
                       {"changes", changes},
                       {"runs", runs}};
    std::cout << json.dump(2) << "\n";
  } else {
    std::cout << text;
  }
}

Json problem_json(const std::vector<Problem>& problems) {
  auto list = Json::array();
  for (const auto& [place, path, message] : problems) {
    list.push_back(
        {{"file", place.file}, {"line", place.line}, {"column", place.column}, {"path", path}, {"message", message}});
  }
  return list;
}

void check(const CheckArguments& arguments) {
  try {
    is_study(arguments.file) ? check_study(arguments) : check_run(arguments);
  } catch (const ConfigError& error) {
    if (arguments.json)
      std::cout << Json{{"valid", false}, {"problems", problem_json(error.problems())}}.dump(2) << "\n";
    throw;
  }
}

}  // namespace

void add_check_command(CLI::App& app) {
  auto arguments = std::make_shared<CheckArguments>();
  auto* command = app.add_subcommand("check", "Check a run or study file, and show what it resolves to");
  command
      ->add_option("file", arguments->file, "run or study file (YAML), or a name such as models/tiny.yaml or llama3-8b")
      ->required();
  command->add_option("--set", arguments->sets, "override, as in --set model.layers=2; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--scale", arguments->scale, "make the run's model smaller: 1/16, 0.25 or tiny");
  command->add_flag("--json", arguments->json, "print the answer as JSON on standard output");
  command->footer(
      "Prints the resolved config as YAML, with widths, parameters and differences in comments below.\n"
      "Every problem is a line on standard error, and the exit code is 2.\n"
      "Example: blockzoo check my_run.yaml --set model.layers=2");
  command->callback([arguments] { check(*arguments); });
}

}  // namespace blockzoo
