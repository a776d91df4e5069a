#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "blockzoo/core/tree.h"
#include "core/source_text.h"

namespace blockzoo {
namespace {

constexpr size_t kMostDepth = 64;
constexpr size_t kMostNodes = 100'000;
constexpr const char* kTab = "a tab stands in the indentation; use blanks";

[[noreturn]] void refuse(const Place& place, const std::string& message) {
  throw ConfigError(Problem{place, "", message});
}

size_t count(const Tree& tree) {
  size_t nodes = 1;
  for (const auto& item : tree.items) nodes += count(item);
  for (const auto& entry : tree.entries) nodes += count(entry.value);
  return nodes;
}

/// Builds a Tree from the parser's events; the parser never builds a graph of its own, so aliases cannot loop.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const SourceText& source) : source_(source) {}

  Tree take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Tree tree;
    tree.place = place_of(mark);
    add(std::move(tree), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const auto place = place_of(mark);
    refuse_tag(tag, place);
    const bool quoted = tag == "!";
    if (quoted && source_.is_unclosed_quote(mark.line, mark.column)) refuse(place, "the quote is never closed");
    Tree tree = Tree::scalar(value, quoted);
    if (!quoted && (value == "~" || value == "null" || value == "Null" || value == "NULL" || value.empty()))
      tree = Tree();
    if (expects_key()) tree = Tree::scalar(value, quoted);
    tree.place = place;
    add(std::move(tree), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    const auto place = place_of(mark);
    if (known == anchors_.end()) refuse(place, "an alias stands inside the value that it names");
    count_nodes(count(known->second), place);
    Tree copy = known->second;
    if (expects_key()) copy.place = place;
    add(std::move(copy), 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_tag(tag, place_of(mark));
    open(Tree::list(), mark, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_tag(tag, place_of(mark));
    open(Tree::map(), mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Tree tree;
    YAML::anchor_t anchor = 0;
    std::optional<Tree> key;
    std::map<std::string, int> line_of_key;
    std::optional<Tree> merge;
  };

  Place place_of(const YAML::Mark& mark) const {
    const auto place = source_.place(mark.line, mark.column);
    if (source_.is_behind_tab(mark.line, mark.column)) refuse(place, kTab);
    return place;
  }

  /// "?" is a plain value and "!" a quoted one; anything else was written in the file.
  static void refuse_tag(const std::string& tag, const Place& place) {
    if (tag != "?" && tag != "!" && !tag.empty()) refuse(place, "tags such as " + tag + " are not read here");
  }

  void count_nodes(size_t more, const Place& place) {
    nodes_ += more;
    if (nodes_ > kMostNodes)
      refuse(place, "more than " + std::to_string(kMostNodes) + " values once aliases are expanded");
  }

  bool expects_key() const { return !levels_.empty() && levels_.back().tree.is_map() && !levels_.back().key; }

  void open(Tree tree, const YAML::Mark& mark, YAML::anchor_t anchor) {
    tree.place = place_of(mark);
    if (expects_key()) refuse(tree.place, "a key must be plain text");
    if (levels_.size() >= kMostDepth)
      refuse(tree.place, "nested deeper than " + std::to_string(kMostDepth) + " levels");
    Level level;
    level.tree = std::move(tree);
    level.anchor = anchor;
    levels_.push_back(std::move(level));
  }

  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    if (level.merge) merge(*level.merge, level);
    add(std::move(level.tree), level.anchor);
  }

  /// Keys that the map has itself, or has from an earlier source, stay.
  void merge(const Tree& source, Level& level) {
    if (!source.is_map() && !source.is_list()) refuse(source.place, "<< takes a map or a list of maps");
    for (const auto& item : source.items) merge(item, level);
    for (const auto& [key, value] : source.entries) {
      if (level.line_of_key.try_emplace(key, 0).second) level.tree.entries.push_back({key, value});
    }
  }

  void add(Tree tree, YAML::anchor_t anchor) {
    count_nodes(1, tree.place);
    if (anchor != 0) {
      count_nodes(count(tree), tree.place);
      anchors_[anchor] = tree;
    }
    if (levels_.empty()) {
      root_ = std::move(tree);
    } else if (levels_.back().tree.is_list()) {
      levels_.back().tree.items.push_back(std::move(tree));
    } else if (!levels_.back().key) {
      if (!tree.is_scalar()) refuse(tree.place, "a key must be plain text");
      levels_.back().key = std::move(tree);
    } else {
      add_entry(std::move(tree));
    }
  }

  void add_entry(Tree value) {
    auto& level = levels_.back();
    const Tree key = *std::exchange(level.key, std::nullopt);
    const bool merges = key.text == "<<" && !key.quoted;
    // A merge is kept apart from a quoted "<<", which is a key like any other.
    const auto [first, fresh] = level.line_of_key.try_emplace(merges ? "<<\n" : key.text, key.place.line);
    if (!fresh)
      refuse(key.place,
             "the key '" + key.text + "' is repeated; it stands on line " + std::to_string(first->second) + " already");
    if (merges) {
      level.merge = std::move(value);
      return;
    }
    value.place = key.place;  // what is wrong with a value is shown where its key stands
    level.tree.entries.push_back({key.text, std::move(value)});
  }

  const SourceText& source_;
  Tree root_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Tree> anchors_;
  size_t nodes_ = 0;
};

}  // namespace

Tree parse_yaml(std::string_view text, const std::string& name) {
  const SourceText source(text, name);
  std::istringstream stream{std::string(source.text())};
  try {
    YAML::Parser parser(stream);
    Builder builder(source);
    parser.HandleNextDocument(builder);
    Builder second(source);
    if (parser.HandleNextDocument(second))
      refuse(second.take().place, "a second document, or text after the end of the first; a file holds one");
    auto tree = builder.take();
    if (tree.place.line == 0) tree.place = source.place(0, 0);
    return tree;
  } catch (const YAML::Exception& error) {
    const auto& mark = error.mark;
    refuse(source.place(mark.line, mark.column),
           source.has_tab_indentation(mark.line) ? kTab : "not YAML: " + error.msg);
  }
}

Tree load_yaml(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) refuse({path.string(), 0, 0}, "is a folder, not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse({path.string(), 0, 0}, std::string("cannot be read: ") + std::strerror(errno));
  std::string text(SourceText::kMostBytes + 1, '\0');  // a pipe or a device may never end
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) refuse({path.string(), 0, 0}, std::string("cannot be read: ") + std::strerror(errno));
  text.resize(static_cast<size_t>(file.gcount()));
  return parse_yaml(text, path.string());
}

}  // namespace blockzoo
