#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "blockzoo/core/fields.h"
#include "blockzoo/core/names.h"
#include "blockzoo/core/tree.h"
#include "core/scalar.h"

namespace blockzoo {

template <HasFields T>
Tree to_tree(const T& config);

inline Tree to_tree(double value) { return Tree::scalar(write_number(value)); }
inline Tree to_tree(int64_t value) { return Tree::scalar(std::to_string(value)); }
inline Tree to_tree(bool value) { return Tree::scalar(value ? "true" : "false"); }
inline Tree to_tree(const std::string& value) { return Tree::scalar(value, needs_quotes(value)); }
inline Tree to_tree(const Tree& value) { return value; }
template <NamedEnum E>
Tree to_tree(E value) {
  return Tree::scalar(std::string(name_of(value)));
}
template <class T>
Tree to_tree(const std::optional<T>& value) {
  return value ? to_tree(*value) : Tree::scalar("auto");
}
template <class T>
Tree to_tree(const std::vector<T>& values) {
  Tree tree = Tree::list();
  for (const auto& value : values) tree.items.push_back(to_tree(value));
  return tree;
}
template <class... Kinds>
Tree to_tree(const std::variant<Kinds...>& choice) {
  Tree tree;
  std::visit(
      [&]<class Kind>(const Kind& config) {
        tree = to_tree(config);
        tree.entries.insert(tree.entries.begin(), {"kind", Tree::scalar(std::string(Kind::kind))});
      },
      choice);
  return tree;
}

/// The visitor behind to_tree: every field with its value, defaults included.
struct Writer {
  Tree tree = Tree::map();
  void operator()(std::string_view key, const auto& field, std::string_view) { tree[key] = to_tree(field); }
  void operator()(std::string_view key, const auto& field, const Bound&, std::string_view) {
    tree[key] = to_tree(field);
  }
};

/// A config as the tree that reads back to an equal config.
template <HasFields T>
Tree to_tree(const T& config) {
  Writer writer;
  T::fields(config, writer);
  return std::move(writer.tree);
}

}  // namespace blockzoo
