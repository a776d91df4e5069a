#include "lab/sweep.h"

#include <algorithm>

namespace blockzoo {

bool is_file_name(const std::string& name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '+' || c == '.';
  };
  return !name.empty() && name.size() <= 80 && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), good);
}

std::string as_file_name(std::string text) {
  for (char& c : text) {
    if (!is_file_name(std::string("x") + c)) c = '-';
  }
  return text.substr(0, 80);
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

std::string in_words(const std::vector<SweepValue>& sweep) {
  std::string text;
  for (const auto& [path, value] : sweep) text += (text.empty() ? "" : ", ") + last_part(path) + " " + value;
  return text;
}

std::vector<SweepPoint> grid(const Tree& sweep, Notes& notes) {
  std::vector<SweepPoint> points{{}};
  if (sweep.kind != Tree::Kind::kNull && !sweep.is_map())
    notes.add(
        {sweep.place, "sweep", "must be a map of dotted paths to lists, as in {train.optimizer.lr: [1e-3, 3e-3]}"});
  for (const auto& [path, values] : sweep.entries) {
    if (!values.is_list() || values.items.empty()) {
      notes.add({values.place, "sweep." + path, "must be a list of values, as in [1e-3, 3e-3]"});
      continue;
    }
    std::vector<SweepPoint> longer;
    for (const auto& point : points) {
      for (const auto& value : values.items) {
        longer.push_back(point);
        longer.back().emplace_back(path, value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace blockzoo
