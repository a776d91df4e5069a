#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "blockzoo/core/fields.h"

namespace blockzoo {

/// Collects the dotted paths of every key that a config can hold, in any kind; items of a list are "list[]".
struct PathCollector {
  std::string prefix;
  std::vector<std::string>& paths;

  void operator()(std::string_view key, const auto& field, std::string_view) {
    const auto path = prefix.empty() ? std::string(key) : prefix + "." + std::string(key);
    paths.push_back(path);
    descend(field, path);
  }
  void operator()(std::string_view key, const auto& field, const Bound&, std::string_view doc) {
    (*this)(key, field, doc);
  }

 private:
  void descend(const auto&, const std::string&) {}
  template <HasFields T>
  void descend(const T& config, const std::string& path) {
    PathCollector below{path, paths};
    T::fields(config, below);
  }
  template <class T>
  void descend(const std::optional<T>& field, const std::string& path) {
    descend(field.value_or(T{}), path);
  }
  template <class T>
  void descend(const std::vector<T>&, const std::string& path) {
    descend(T{}, path + "[]");
  }
  template <class... Kinds>
  void descend(const std::variant<Kinds...>&, const std::string& path) {
    (descend(Kinds{}, path), ...);
  }
};

template <HasFields T>
std::vector<std::string> known_paths(const std::string& prefix) {
  std::vector<std::string> paths;
  PathCollector collector{prefix, paths};
  const T config{};
  T::fields(config, collector);
  return paths;
}

}  // namespace blockzoo
