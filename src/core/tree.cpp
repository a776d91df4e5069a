#include "blockzoo/core/tree.h"

#include <charconv>

#include "core/scalar.h"

namespace blockzoo {
namespace {

std::pair<std::string_view, std::string_view> split_first(std::string_view path) {
  const auto dot = path.find('.');
  if (dot == std::string_view::npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

const Tree* child(const Tree& tree, std::string_view key) {
  if (tree.is_map()) return tree.find(key);
  if (!tree.is_list()) return nullptr;
  size_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || end != key.data() + key.size() || index >= tree.items.size()) return nullptr;
  return &tree.items[index];
}

std::string joined(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

bool kind_changes(const Tree& base, const Tree& patch) {
  const auto* after = patch.find("kind");
  if (after == nullptr) return false;
  const auto* before = base.find("kind");
  return before != nullptr && !(*before == *after);
}

void collect(const Tree* before, const Tree* after, const std::string& path, std::vector<Difference>& found) {
  if (before != nullptr && after != nullptr) {
    if (*before == *after) return;
    if (before->is_map() && after->is_map() && !kind_changes(*before, *after)) {
      for (const auto& [key, value] : before->entries) collect(&value, after->find(key), joined(path, key), found);
      for (const auto& [key, value] : after->entries) {
        if (before->find(key) == nullptr) collect(nullptr, &value, joined(path, key), found);
      }
      return;
    }
  }
  found.push_back({path, before ? one_line(*before) : "", after ? one_line(*after) : ""});
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr char digits[] = "0123456789abcdef";
      out += std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string scalar_text(const Tree& tree) {
  return tree.quoted || (needs_quotes(tree.text) && !parse_number(tree.text) && !parse_bool(tree.text))
             ? quoted(tree.text)
             : tree.text;
}

std::string key_text(const std::string& key) { return needs_quotes(key) ? quoted(key) : key; }

bool fits_one_line(const Tree& tree) {
  if (tree.is_map()) return tree.entries.empty();
  for (const auto& item : tree.items) {
    if (!item.is_scalar()) return false;
  }
  return true;
}

void write(const Tree& tree, int indent, std::string& out) {
  const std::string margin(indent, ' ');
  const auto value = [&](const Tree& node) {
    if (fits_one_line(node)) {
      out += " " + one_line(node) + "\n";
    } else {
      out += "\n";
      write(node, indent + 2, out);
    }
  };
  for (const auto& [key, node] : tree.entries) {
    out += margin + key_text(key) + ":";
    value(node);
  }
  for (const auto& item : tree.items) {
    out += margin + "-";
    value(item);
  }
}

/// A command line has no lines to point to.
void forget_lines(Tree& tree) {
  tree.place.line = 0;
  for (auto& item : tree.items) forget_lines(item);
  for (auto& entry : tree.entries) forget_lines(entry.value);
}

}  // namespace

Tree Tree::scalar(std::string text, bool quoted) {
  Tree tree;
  tree.kind = Kind::kScalar;
  tree.text = std::move(text);
  tree.quoted = quoted;
  return tree;
}

Tree Tree::list() {
  Tree tree;
  tree.kind = Kind::kList;
  return tree;
}

Tree Tree::map() {
  Tree tree;
  tree.kind = Kind::kMap;
  return tree;
}

const Tree* Tree::find(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

Tree& Tree::operator[](std::string_view key) {
  if (kind == Kind::kNull) kind = Kind::kMap;
  for (auto& [name, value] : entries) {
    if (name == key) return value;
  }
  return entries.emplace_back(Entry{std::string(key), Tree()}).value;
}

const Tree& Tree::deepest(std::string_view path) const {
  const Tree* node = this;
  while (!path.empty()) {
    const auto [first, rest] = split_first(path);
    const auto* next = child(*node, first);
    if (next == nullptr) break;
    node = next;
    path = rest;
  }
  return *node;
}

bool operator==(const Tree& a, const Tree& b) {
  return a.kind == b.kind && a.text == b.text && a.items == b.items && a.entries == b.entries;
}

bool operator==(const Tree::Entry& a, const Tree::Entry& b) { return a.key == b.key && a.value == b.value; }

std::string one_line(const Tree& tree) {
  switch (tree.kind) {
    case Tree::Kind::kNull:
      return "null";
    case Tree::Kind::kScalar:
      return scalar_text(tree);
    case Tree::Kind::kList:
      break;
    case Tree::Kind::kMap:
      break;
  }
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  for (const auto& item : tree.items) add(one_line(item));
  for (const auto& [key, value] : tree.entries) add(key_text(key) + ": " + one_line(value));
  return tree.is_map() ? "{" + out + "}" : "[" + out + "]";
}

std::string write_yaml(const Tree& tree) {
  if (fits_one_line(tree)) return one_line(tree) + "\n";
  std::string out;
  write(tree, 0, out);
  return out;
}

Tree overlay(const Tree& base, const Tree& patch) {
  if (!base.is_map() || !patch.is_map() || kind_changes(base, patch)) return patch;
  Tree merged = base;
  merged.place = patch.place;
  for (const auto& [key, value] : patch.entries) {
    auto& slot = merged[key];
    slot = overlay(slot, value);
  }
  return merged;
}

Tree nested(std::string_view dotted_path, Tree value) {
  const auto [first, rest] = split_first(dotted_path);
  Tree tree = Tree::map();
  tree.place = value.place;
  tree[first] = rest.empty() ? std::move(value) : nested(rest, std::move(value));
  return tree;
}

Tree parse_assignment(const std::string& assignment) {
  const auto equals = assignment.find('=');
  const std::string name = "--set " + assignment;
  if (equals == std::string::npos || equals == 0)
    throw ConfigError(Problem{{name, 0, 0}, "", "an override is written path=value, as in train.steps=100"});
  const auto path = assignment.substr(0, equals);
  if (path.front() == '.' || path.back() == '.' || path.find("..") != std::string::npos)
    throw ConfigError(Problem{{name, 0, 0}, "", "'" + path + "' is not a dotted path such as train.steps"});
  Tree value = parse_yaml(assignment.substr(equals + 1), name);
  forget_lines(value);
  return nested(path, std::move(value));
}

std::vector<Difference> differences(const Tree& before, const Tree& after) {
  std::vector<Difference> found;
  collect(&before, &after, "", found);
  return found;
}

}  // namespace blockzoo
