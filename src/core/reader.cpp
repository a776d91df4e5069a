#include "core/reader.h"

#include <algorithm>
#include <numeric>

namespace blockzoo {
namespace {

/// Levenshtein distance.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t change = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  if (word.size() > 100) return "";
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const auto d = distance(word, candidate);
    if (d < best_distance && d < candidate.size()) {
      best = &candidate;
      best_distance = d;
    }
  }
  return best ? " (did you mean '" + *best + "'?)" : "";
}

std::string other_places(std::string_view key, std::string_view path, const std::vector<std::string>& known) {
  const auto ending = "." + std::string(key);
  const auto shared = [&](const std::string& candidate) {
    return std::mismatch(candidate.begin(), candidate.end(), path.begin(), path.end()).first - candidate.begin();
  };
  const auto depth = [](const std::string& candidate) { return std::count(candidate.begin(), candidate.end(), '.'); };
  std::vector<std::string> places;
  for (const auto& candidate : known) {
    const bool fits = candidate == key || candidate.ends_with(ending);
    if (fits && std::find(places.begin(), places.end(), candidate) == places.end()) places.push_back(candidate);
  }
  std::stable_sort(places.begin(), places.end(), [&](const auto& a, const auto& b) {
    return shared(a) != shared(b) ? shared(a) > shared(b) : depth(a) < depth(b);
  });
  constexpr size_t most = 3;
  std::string text;
  for (size_t i = 0; i < std::min(most, places.size()); ++i)
    text += (text.empty() ? "" : " or ") + ("'" + places[i] + "'");
  return places.empty() ? "" : " (did you mean " + text + "?)";
}

}  // namespace blockzoo
