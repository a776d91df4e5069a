#include "blockzoo/lab/advice.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "lab/zoo_columns.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kRatios{"ffn_ratio", "head_ratio", "aspect", "head_width", "vocabulary", "dropout", "decay"};
constexpr std::array kShapes{"ffn_ratio", "head_ratio", "aspect"};
constexpr std::array kChoices{"norm", "layout", "position", "attention", "ffn"};
constexpr size_t kNearest = 3;

ZooCell cell_of(const ZooModel& model, const std::string& column) {
  for (const auto& candidate : zoo_columns()) {
    if (candidate.name == column) return candidate.cell(model);
  }
  throw std::logic_error("no column " + column);
}

/// Where a value stands among the published ones.
struct Standing {
  std::string title;
  double value;
  double lowest, low, high, highest;  // ends of the range, and of its middle eight tenths

  std::string verdict() const {
    if (value < lowest || value > highest) return "outside of what was published";
    return value < low || value > high ? "unusual" : "usual";
  }
};

std::vector<Standing> standings(const ZooModel& model, const std::vector<ZooModel>& published) {
  std::vector<Standing> found;
  for (const std::string name : kRatios) {
    std::vector<double> values;
    for (const auto& other : published) {
      if (const auto number = cell_of(other, name).number) values.push_back(*number);
    }
    const auto own = cell_of(model, name).number;
    if (!own || values.empty()) continue;
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
      return values[static_cast<size_t>(std::llround(share * static_cast<double>(values.size() - 1)))];
    };
    const auto column = std::find_if(zoo_columns().begin(), zoo_columns().end(),
                                     [&](const auto& candidate) { return candidate.name == name; });
    found.push_back({column->title, *own, values.front(), at(0.1), at(0.9), values.back()});
  }
  return found;
}

struct Neighbour {
  const ZooModel* model;
  double distance;
};

std::vector<Neighbour> nearest(const ZooModel& model, const std::vector<ZooModel>& published) {
  std::vector<Neighbour> found;
  for (const auto& other : published) {
    double distance = 0;
    for (const std::string name : kShapes)
      distance += std::abs(std::log2(*cell_of(model, name).number / *cell_of(other, name).number));
    for (const std::string name : kChoices) {
      const auto a = cell_of(model, name).words, b = cell_of(other, name).words;
      if (a != b) distance += 1;
    }
    found.push_back({&other, distance});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
  found.resize(std::min(found.size(), kNearest));
  return found;
}

std::string number_text(double value) {
  return value >= 1e4 ? with_commas(std::llround(value)) : fmt::format("{:.4g}", value);
}

std::string year_of(const ZooModel& model) { return model.about.year ? std::to_string(*model.about.year) : "-"; }

}  // namespace

std::string advice_text(const ZooModel& model, const std::vector<ZooModel>& published) {
  auto text = fmt::format("\nbeside {} published models (middle eight tenths; range)\n", published.size());
  for (const auto& one : standings(model, published))
    text += fmt::format("  {:<12} {:>9}  {:>9} to {:<9}  {:>9} to {:<9}  {}\n", one.title, number_text(one.value),
                        number_text(one.low), number_text(one.high), number_text(one.lowest), number_text(one.highest),
                        one.verdict());
  text += "nearest\n";
  for (const auto& [other, distance] : nearest(model, published))
    text += fmt::format("  {} ({}), distance {:.2f}\n", other->name, year_of(*other), distance);
  return text;
}

std::string advice_json(const ZooModel& model, const std::vector<ZooModel>& published) {
  Json json{{"ratios", Json::object()}, {"nearest", Json::array()}};
  for (const auto& one : standings(model, published))
    json["ratios"][one.title] = {{"value", one.value},
                                 {"usual", {one.low, one.high}},
                                 {"range", {one.lowest, one.highest}},
                                 {"verdict", one.verdict()}};
  for (const auto& [other, distance] : nearest(model, published))
    json["nearest"].push_back({{"name", other->name}, {"distance", distance}});
  return json.dump(2) + "\n";
}

}  // namespace blockzoo
