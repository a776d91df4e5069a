#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/reader.h"
#include "core/writer.h"
#include "lab/table_text.h"
#include "lab/zoo_columns.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;
using Columns = std::vector<const ZooColumn*>;
using Models = std::vector<const ZooModel*>;

[[noreturn]] void refuse(const std::string& option, const std::string& message) {
  throw ConfigError(Problem{{}, option, message});
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= text.size();) {
    const auto comma = std::min(text.find(',', start), text.size());
    parts.push_back(text.substr(start, comma - start));
    start = comma + 1;
  }
  return parts;
}

const ZooColumn& column_named(const std::string& name, const std::string& option) {
  std::vector<std::string> known;
  for (const auto& column : zoo_columns()) {
    if (column.name == name) return column;
    known.push_back(column.name);
  }
  refuse(option, fmt::format("no column '{}'; columns: {}{}", name, fmt::join(known, ", "), did_you_mean(name, known)));
}

/// One condition of a filter: norm=rms_norm, position!=rope, parameters<1e10.
struct Condition {
  const ZooColumn& column;
  std::string comparison;
  std::string value;

  bool is_equality() const { return comparison == "=" || comparison == "!="; }

  bool holds(const ZooModel& model) const {
    const auto cell = column.cell(model);
    if (is_equality()) return matches(cell) == (comparison == "=");
    const auto wanted = parse_number(value);
    if (!wanted) refuse("--filter", fmt::format("'{}' is compared with '{}', which is no number", column.name, value));
    if (!cell.number) return false;
    const auto number = *cell.number;
    if (comparison == "<") return number < *wanted;
    if (comparison == "<=") return number <= *wanted;
    return comparison == ">" ? number > *wanted : number >= *wanted;
  }

  bool matches(const ZooCell& cell) const {
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    const auto equal = [&](const std::string& text) {
      return std::equal(text.begin(), text.end(), value.begin(), value.end(),
                        [&](char a, char b) { return lower(a) == lower(b); });
    };
    if (equal(cell.text) || std::any_of(cell.words.begin(), cell.words.end(), equal)) return true;
    const auto number = parse_number(value);
    return number && cell.number && *number == *cell.number;
  }
};

Condition parse_condition(const std::string& text) {
  const auto at = text.find_first_of("=!<>");
  if (at == text.npos || at == 0)
    refuse("--filter",
           fmt::format("'{}' is no condition; write column=value, !=, <, <=, > or >=, as in norm=rms_norm", text));
  const bool two = at + 1 < text.size() && text[at + 1] == '=';
  if (text[at] == '!' && !two) refuse("--filter", fmt::format("'{}' has a lone !; write !=", text));
  const auto value = text.substr(at + (two ? 2 : 1));
  if (value.empty()) refuse("--filter", fmt::format("'{}' says no value", text));
  const auto comparison = text.substr(at, two ? 2 : 1);
  return {column_named(text.substr(0, at), "--filter"), comparison == "==" ? "=" : comparison, value};
}

/// A value of a choice that none of the models has is a slip of the pen.
void refuse_unknown_value(const Condition& condition, const std::vector<ZooModel>& models) {
  std::set<std::string> words;
  for (const auto& model : models) {
    const auto cell = condition.column.cell(model);
    words.insert(cell.words.begin(), cell.words.end());
    if (condition.matches(cell)) return;
  }
  if (words.empty()) return;
  refuse("--filter", fmt::format("no model has {} '{}'; there are: {}", condition.column.name, condition.value,
                                 fmt::join(words, ", ")) +
                         did_you_mean(condition.value, {words.begin(), words.end()}));
}

/// The models of the view, in its order.
Models chosen(const std::vector<ZooModel>& models, const ZooView& view) {
  Models rows;
  for (const auto& model : models) rows.push_back(&model);
  for (const auto& part : view.filter.empty() ? std::vector<std::string>() : split(view.filter)) {
    const auto condition = parse_condition(part);
    if (condition.is_equality()) refuse_unknown_value(condition, models);
    std::erase_if(rows, [&](const ZooModel* model) { return !condition.holds(*model); });
  }
  if (view.sort.empty()) return rows;
  const bool down = view.sort.front() == '-';
  const auto& column = column_named(view.sort.substr(down ? 1 : 0), "--sort");
  std::vector<std::pair<ZooCell, const ZooModel*>> keyed;
  for (const auto* model : rows) keyed.emplace_back(column.cell(*model), model);
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& left, const auto& right) {
    const auto& a = down ? right.first : left.first;
    const auto& b = down ? left.first : right.first;
    return a.number && b.number                           ? *a.number < *b.number
           : a.number.has_value() != b.number.has_value() ? !a.number
                                                          : a.text < b.text;
  });
  for (size_t i = 0; i < keyed.size(); ++i) rows[i] = keyed[i].second;
  return rows;
}

Columns shown(const ZooView& view) {
  Columns columns;
  if (view.columns.empty()) {
    for (const auto& column : zoo_columns()) {
      if (column.overview) columns.push_back(&column);
    }
    return columns;
  }
  for (const auto& name : split(view.columns)) columns.push_back(&column_named(name, "--columns"));
  return columns;
}

Json cell_json(const ZooCell& cell) {
  if (cell.number && cell.text.find('x') == std::string::npos) {
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
  if (about.year) json["year"] = *about.year;
  if (about.parameters) json["parameters"] = *about.parameters;
  json["difference"] = about.difference;
  return json;
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
  const auto columns = shown(view);
  std::vector<std::vector<std::string>> lines(1);
  for (const auto* column : columns) lines[0].push_back(column->title);
  for (const auto* model : chosen(models, view)) {
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
  for (const auto* model : chosen(models, view)) rows.push_back(row_json(*model));
  return rows.dump(2) + "\n";
}

std::string zoo_page(const std::vector<ZooModel>& models) {
  std::string out =
      "# The zoo\n\n"
      "Written by `blockzoo zoo --markdown` from the files in `configs/models`; a test fails when this page is stale. "
      "Parameters are counted on the built model;\nthe table at the end says where they differ from the published "
      "number and why. `24x a, 8x b`: 24 layers have a, 8 have b.\n\n";
  std::vector<std::string> titles, rules;
  for (const auto* column : shown({})) titles.push_back(column->title), rules.emplace_back("---");
  out += markdown_row(titles) + markdown_row(rules);
  const auto rows = chosen(models, {.filter = "", .sort = "year", .columns = ""});
  for (const auto* model : rows) {
    std::vector<std::string> line;
    for (const auto* column : shown({})) line.push_back(column->cell(*model).text);
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
                         with_commas(*about.parameters), with_commas(model->count.total)});
  }
  out += "\n## Sources\n\n";
  out += markdown_row({"name", "model", "source", "published parameters", "not confirmed by a source"});
  out += markdown_row({"---", "---", "---", "---", "---"});
  for (const auto* model : rows) {
    const auto& about = model->about;
    out += markdown_row({"`" + model->name + "`", about.name, about.source,
                         fmt::format("{} ({})", with_commas(*about.parameters), name_of(about.status)),
                         about.unconfirmed});
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
  if (about.parameters)
    note("published", fmt::format("{} parameters ({})", with_commas(*about.parameters), name_of(about.status)));
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
