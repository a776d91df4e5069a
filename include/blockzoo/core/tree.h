#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "blockzoo/core/config_error.h"

namespace blockzoo {

/// A YAML document as plain data. Maps keep the order of the file; aliases and merge keys are expanded.
struct Tree {
  enum class Kind { kNull, kScalar, kList, kMap };
  struct Entry;

  Kind kind = Kind::kNull;
  std::string text;     // scalar: as written, without quotes
  bool quoted = false;  // scalar: written in quotes, so it is text whatever it looks like
  std::vector<Tree> items;
  std::vector<Entry> entries;
  Place place;

  static Tree scalar(std::string text, bool quoted = false);
  static Tree list();
  static Tree map();

  bool is_map() const { return kind == Kind::kMap; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_scalar() const { return kind == Kind::kScalar; }

  const Tree* find(std::string_view key) const;
  /// The entry of that key, added when absent. Turns a null into a map.
  Tree& operator[](std::string_view key);
  /// The deepest node that exists on a dotted path ("a.b.0.c"); used to say where a problem is.
  const Tree& deepest(std::string_view path) const;
};

struct Tree::Entry {
  std::string key;
  Tree value;
};

/// Same structure and same texts; places and quotes do not count.
bool operator==(const Tree& a, const Tree& b);
bool operator==(const Tree::Entry& a, const Tree::Entry& b);

/// Reads YAML 1.2's core, strictly. Refused with a ConfigError that names `name`, line and column: repeated keys, more
/// than one document, tabs as indentation, tags, quotes that never close, anything but UTF-8, control characters, over
/// 1 MiB, nesting over 64, aliases to themselves, expansion over 100,000 values.
Tree parse_yaml(std::string_view text, const std::string& name);
Tree load_yaml(const std::filesystem::path& path);

/// Block style, readable by any YAML 1.1 or 1.2 reader, and by parse_yaml to an equal tree.
std::string write_yaml(const Tree& tree);

/// `patch` over `base`: maps merge key by key, but a map whose `kind` changes is replaced whole, so that the settings
/// of the old variant cannot leak (a base without a `kind` has not said which variant it sets, and keeps its keys).
/// Everything else is replaced.
Tree overlay(const Tree& base, const Tree& patch);

/// Parses "a.b.c=value" (value in YAML) to the tree {a: {b: {c: value}}}.
Tree parse_assignment(const std::string& assignment);

/// A tree that holds `value` at the dotted path.
Tree nested(std::string_view dotted_path, Tree value);

struct Difference {
  std::string path;
  std::string before;  // one-line YAML; empty when absent
  std::string after;
};

/// The leaves in which two trees differ; a map whose `kind` differs counts as one leaf.
std::vector<Difference> differences(const Tree& before, const Tree& after);

/// One line of flow-style YAML.
std::string one_line(const Tree& tree);

}  // namespace blockzoo
