#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>

#include "blockzoo/core/tree.h"

namespace blockzoo {
namespace {

constexpr size_t kMostDepth = 64;
constexpr size_t kMostNodes = 100'000;
constexpr size_t kMostBytes = 4 << 20;

[[noreturn]] void refuse(const Place& place, const std::string& message) { throw ConfigError(Problem{place, "", message}); }

size_t count(const Tree& tree) {
  size_t nodes = 1;
  for (const auto& item : tree.items) nodes += count(item);
  for (const auto& entry : tree.entries) nodes += count(entry.second);
  return nodes;
}

/// Builds a Tree from the parser's events; the parser never builds a graph of its own, so aliases cannot loop.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(std::string file) : file_(std::move(file)) {}

  Tree take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Tree tree;
    tree.place = place(mark);
    add(std::move(tree), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (tag != "?" && tag != "!" && !tag.empty()) refuse(place(mark), "tags such as " + tag + " are not read here");
    const bool quoted = tag == "!";
    Tree tree = Tree::scalar(value, quoted);
    if (!quoted && (value == "~" || value == "null" || value == "Null" || value == "NULL" || value.empty()))
      tree = Tree();
    if (expects_key()) tree = Tree::scalar(value, quoted);
    tree.place = place(mark);
    add(std::move(tree), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) refuse(place(mark), "an alias stands inside the value that it names");
    add(known->second, 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Tree::list(), mark, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Tree::map(), mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Tree tree;
    YAML::anchor_t anchor = 0;
    std::optional<Tree> key;
    std::vector<Tree> merges;
  };

  Place place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

  bool expects_key() const { return !levels_.empty() && levels_.back().tree.is_map() && !levels_.back().key; }

  void open(Tree tree, const YAML::Mark& mark, YAML::anchor_t anchor) {
    tree.place = place(mark);
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
    for (const auto& source : level.merges) {
      for (const auto& [key, value] : source.entries) {
        if (level.tree.find(key) == nullptr) level.tree.entries.emplace_back(key, value);
      }
    }
    add(std::move(level.tree), level.anchor);
  }

  void add(Tree tree, YAML::anchor_t anchor) {
    nodes_ += count(tree);
    if (nodes_ > kMostNodes)
      refuse(tree.place, "more than " + std::to_string(kMostNodes) + " values once aliases are expanded");
    if (anchor != 0) anchors_[anchor] = tree;
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
    if (key.text == "<<" && !key.quoted) return add_merge(std::move(value));
    const auto [first, fresh] = key_lines_.try_emplace({levels_.size(), level.tree.place.line, level.tree.place.column, key.text}, key.place.line);
    if (level.tree.find(key.text) != nullptr) {
      const auto line = fresh ? key.place.line : first->second;
      refuse(key.place, "the key '" + key.text + "' is repeated; it stands on line " + std::to_string(line) + " already");
    }
    if (value.place.line == 0) value.place = key.place;
    level.tree.entries.emplace_back(key.text, std::move(value));
  }

  void add_merge(Tree value) {
    auto& merges = levels_.back().merges;
    if (value.is_map()) {
      merges.push_back(std::move(value));
    } else if (value.is_list()) {
      for (auto& item : value.items) add_merge(std::move(item));
    } else {
      refuse(value.place, "<< takes a map or a list of maps");
    }
  }

  std::string file_;
  Tree root_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Tree> anchors_;
  std::map<std::tuple<size_t, int, int, std::string>, int> key_lines_;
  size_t nodes_ = 0;
};

void check_bytes(std::string_view text, const std::string& name) {
  if (text.size() > kMostBytes) refuse({name, 0, 0}, "larger than 4 MiB, which no config is");
  int line = 1;
  int column = 1;
  bool only_blanks = true;
  for (const char c : text) {
    if (c == '\0') refuse({name, line, column}, "a zero byte; the file must be UTF-8 text (UTF-16 is not read)");
    if (c == '\t' && only_blanks) refuse({name, line, column}, "a tab stands in the indentation; use blanks");
    only_blanks = c == '\n' || (only_blanks && c == ' ');
    column = c == '\n' ? 1 : column + 1;
    line += c == '\n';
  }
  const auto starts = [&](std::string_view mark) { return text.substr(0, mark.size()) == mark; };
  if (starts("\xff\xfe") || starts("\xfe\xff")) refuse({name, 1, 1}, "UTF-16; the file must be UTF-8");
}

}  // namespace

Tree parse_yaml(std::string_view text, const std::string& name) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  check_bytes(text, name);
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    Builder builder(name);
    parser.HandleNextDocument(builder);
    Builder second(name);
    if (parser.HandleNextDocument(second))
      refuse({name, second.take().place.line, 1}, "a second document (---) in one file; one is allowed");
    return builder.take();
  } catch (const YAML::Exception& error) {
    refuse({name, error.mark.line + 1, error.mark.column + 1}, "not YAML: " + error.msg);
  }
}

Tree load_yaml(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) refuse({path.string(), 0, 0}, "is a folder, not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse({path.string(), 0, 0}, std::string("cannot be read: ") + std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return parse_yaml(text.str(), path.string());
}

}  // namespace blockzoo
