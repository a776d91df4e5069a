#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/writer.h"
#include "lab/table_text.h"
#include "lab/zoo_view.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;

Json cell_json(const ZooCell& cell) {
  if (cell.number && cell.words.empty() && cell.same_in_all_layers) {
    const auto number = *cell.number;
    return number == std::floor(number) && std::abs(number) < 1e15 ? Json(static_cast<int64_t>(number)) : Json(number);
  }
  return cell.text == "-" ? Json(nullptr) : Json(cell.text);
}

Json row_json(const ZooModel& model) {
  Json row = Json::object();
  for (const auto& column : zoo_columns()) row[column.name] = cell_json(column.cell(model));
  return row;
}

Json about_json(const About& about) {
  Json json = Json::object();
  for (const auto& [key, value] : to_tree(about).entries) json[key] = value.text;
  const auto number = [](const std::optional<int64_t>& value) { return value ? Json(*value) : Json(nullptr); };
  json["year"] = number(about.year);
  json["parameters"] = number(about.parameters);
  json["difference"] = about.difference;
  return json;
}

/// "8,030,261,248 (exact)"; "-" where nothing is known.
std::string published(const About& about) {
  if (!about.parameters) return "-";
  return fmt::format("{} ({})", with_commas(*about.parameters), name_of(about.status));
}

std::string lines_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  size_t longest = 0;
  for (const auto& [name, text] : pairs) longest = std::max(longest, name.size());
  std::string out;
  for (const auto& [name, text] : pairs) out += fmt::format("#   {:{}}  {}\n", name, longest, text);
  return out;
}

}  // namespace

std::string zoo_table(const std::vector<ZooModel>& models, const ZooView& view) {
  const auto columns = shown_columns(view);
  std::vector<std::vector<std::string>> lines(1);
  for (const auto* column : columns) lines[0].push_back(column->title);
  for (const auto* model : chosen_models(models, view)) {
    auto& line = lines.emplace_back();
    for (const auto* column : columns) line.push_back(column->cell(*model).text);
  }
  std::vector<size_t> widths(columns.size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) text += fmt::format("{:{}}  ", line[i], widths[i]);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

std::string zoo_table_json(const std::vector<ZooModel>& models, const ZooView& view) {
  auto rows = Json::array();
  for (const auto* model : chosen_models(models, view)) rows.push_back(row_json(*model));
  return rows.dump(2) + "\n";
}

std::string zoo_page(const std::vector<ZooModel>& models) {
  std::string out =
      "# The zoo\n\n"
      "Written by `blockzoo zoo --markdown` from the files in `configs/models`; a test fails when this page is stale. "
      "Parameters are counted on the built model;\nthe table at the end says where they differ from the published "
      "number and why. `24x a, 8x b`: 24 layers have a, 8 have b.\n\n";
  std::vector<std::string> titles, rules;
  for (const auto* column : shown_columns({})) titles.push_back(column->title), rules.emplace_back("---");
  out += markdown_row(titles) + markdown_row(rules);
  const auto rows = chosen_models(models, {.filter = "", .sort = "year", .columns = ""});
  for (const auto* model : rows) {
    std::vector<std::string> line;
    for (const auto* column : shown_columns({})) line.push_back(column->cell(*model).text);
    line[0] = "`" + line[0] + "`";
    out += markdown_row(line);
  }
  out +=
      "\n## What is missing\n\nModels whose published form has parts that are not here, and what stands for them.\n\n";
  out += markdown_row({"name", "missing", "published parameters", "here"}) + markdown_row({"---", "---", "---", "---"});
  for (const auto* model : rows) {
    const auto& about = model->about;
    if (about.missing.empty() && about.difference == 0) continue;
    out += markdown_row({"`" + model->name + "`", about.missing.empty() ? "nothing; " + about.note : about.missing,
                         published(about), with_commas(model->count.total)});
  }
  out += "\n## Sources\n\n";
  out += markdown_row({"name", "model", "source", "published parameters", "not confirmed by a source"});
  out += markdown_row({"---", "---", "---", "---", "---"});
  for (const auto* model : rows) {
    const auto& about = model->about;
    out += markdown_row({"`" + model->name + "`", about.name, about.source, published(about), about.unconfirmed});
  }
  return out;
}

std::string zoo_text(const ZooModel& model) {
  const auto& about = model.about;
  std::string out = "# " + model.name + "\n";
  std::vector<std::pair<std::string, std::string>> known;
  const auto note = [&](const char* key, const std::string& text) {
    if (!text.empty()) known.emplace_back(key, text);
  };
  note("model", about.name);
  note("by", about.organisation);
  note("source", about.source);
  if (about.parameters) note("published", published(about));
  note("missing", about.missing);
  if (about.difference != 0) note("difference", with_commas(about.difference) + " parameters");
  note("note", about.note);
  note("not confirmed by a source", about.unconfirmed);
  out += lines_of(known);
  std::vector<std::pair<std::string, std::string>> choices;
  for (const auto& column : zoo_columns()) {
    if (column.name != "name" && column.name != "missing" && column.name != "published" &&
        column.name != "organisation")
      choices.emplace_back(column.name, column.cell(model).text);
  }
  out += "#\n# choices\n" + lines_of(choices);
  std::vector<std::pair<std::string, std::string>> parts;
  for (const auto& [part, number] : model.count.by_part) parts.emplace_back(part, with_commas(number));
  out += "#\n# parameters\n" + lines_of(parts);
  Tree tree = Tree::map();
  tree["model"] = to_tree(model.config.model);
  return out + write_yaml(tree);
}

std::string zoo_json(const ZooModel& model) {
  auto json = row_json(model);
  json["about"] = about_json(model.about);
  json["parameters_by_part"] = model.count.by_part;
  return json.dump(2) + "\n";
}

}  // namespace blockzoo
