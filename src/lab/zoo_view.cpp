#include "lab/zoo_view.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/reader.h"

namespace blockzoo {
namespace {

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

}  // namespace

std::vector<const ZooModel*> chosen_models(const std::vector<ZooModel>& models, const ZooView& view) {
  std::vector<const ZooModel*> rows;
  for (const auto& model : models) rows.push_back(&model);
  for (const auto& part : view.filter.empty() ? std::vector<std::string>() : split(view.filter)) {
    const auto condition = parse_condition(part);
    if (condition.is_equality()) refuse_unknown_value(condition, models);
    std::erase_if(rows, [&](const ZooModel* model) { return !condition.holds(*model); });
  }
  if (view.sort.empty()) return rows;
  const bool down = view.sort.front() == '-';
  const auto* column = &column_named(view.sort.substr(down ? 1 : 0), "--sort");
  std::vector<std::pair<ZooCell, const ZooModel*>> keyed;
  for (const auto* model : rows) keyed.emplace_back(column->cell(*model), model);
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

std::vector<const ZooColumn*> shown_columns(const ZooView& view) {
  std::vector<const ZooColumn*> columns;
  if (view.columns.empty()) {
    for (const auto& column : zoo_columns()) {
      if (column.overview) columns.push_back(&column);
    }
    return columns;
  }
  for (const auto& name : split(view.columns)) columns.push_back(&column_named(name, "--columns"));
  return columns;
}

}  // namespace blockzoo
