#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "blockzoo/core/config_error.h"
#include "blockzoo/core/fields.h"
#include "blockzoo/core/names.h"
#include "blockzoo/core/tree.h"
#include "core/known_paths.h"
#include "core/scalar.h"

namespace blockzoo {

/// "; did you mean 'x'?" for the candidate nearest to `word`, or nothing when none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// " (did you mean 'train.optimizer.lr'?)" for a key that belongs elsewhere: the paths in `known` that end with `key`,
/// those nearest to `path` first.
std::string other_places(std::string_view key, std::string_view path, const std::vector<std::string>& known);

/// Collects the keys that a config struct accepts.
struct KeyCollector {
  std::vector<std::string> keys;
  void operator()(std::string_view key, const auto&, std::string_view) { keys.emplace_back(key); }
  void operator()(std::string_view key, const auto&, const Bound&, std::string_view) { keys.emplace_back(key); }
};

template <HasFields T>
std::vector<std::string> keys_of() {
  KeyCollector collector;
  const T config{};
  T::fields(config, collector);
  return collector.keys;
}

/// Fills config structs from a Tree. Notes every problem and throws nothing.
class Reader {
 public:
  Reader(const Tree& node, std::string path, std::vector<Problem>& problems)
      : node_(node), path_(std::move(path)), problems_(problems), place_(node.place) {}

  /// Fills the config that `path` stands for; misplaced keys are looked up in all of it.
  template <HasFields T>
  void fill(T& config) {
    paths_ = [prefix = path_] { return known_paths<T>(prefix); };
    fill_part(config);
  }

  // The visitor that T::fields calls.
  template <class T>
  void operator()(std::string_view key, T& field, std::string_view) {
    if (const auto* value = take(key)) read(*value, child_path(key), field);
  }
  template <class T>
  void operator()(std::string_view key, T& field, const Bound& bound, std::string_view) {
    const auto before = problems_.size();
    const auto* value = take(key);
    if (value == nullptr) return;
    read(*value, child_path(key), field);
    if (problems_.size() == before) check(*value, child_path(key), field, bound);
  }

  // What T::rules calls. Exactly bool, since a key would convert to it and string fields would be ambiguous.
  template <std::same_as<bool> Condition>
  void operator()(Condition holds, std::string_view key, const std::string& message) {
    if (!holds) note(nearest_place(key), child_path(key), message);
  }

 private:
  /// A part of the config that `parent` fills. What was not read from a file is shown where its parent stands.
  Reader(const Tree& node, std::string path, const Reader& parent)
      : node_(node),
        path_(std::move(path)),
        problems_(parent.problems_),
        place_(node.place.file.empty() ? parent.place_ : node.place),
        paths_(parent.paths_) {}

  template <HasFields T>
  void fill_part(T& config) {
    if (!node_.is_map()) {
      note(node_.place, path_, "must be a map of keys and values, not " + shown(node_));
      return;
    }
    const auto before = problems_.size();
    T::fields(config, *this);
    auto known = keys_of<T>();
    if (owner_of_) known.insert(known.begin(), "kind");
    reject_unread_keys(known);
    if (problems_.size() > before) return;  // rules may assume valid fields
    if constexpr (requires { T::rules(config, *this); }) T::rules(config, *this);
  }

  std::string child_path(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }

  static std::string shown(const Tree& value) {
    const bool plain = value.is_scalar() && !value.quoted && value.text.find('\n') == std::string::npos;
    const auto text =
        value.kind == Tree::Kind::kNull ? std::string("nothing") : "'" + (plain ? value.text : one_line(value)) + "'";
    return text.size() > 60 ? text.substr(0, 56) + "...'" : text;
  }

  void note(const Place& place, const std::string& path, const std::string& message) {
    problems_.push_back({place.file.empty() ? place_ : place, path, message});
  }

  /// Of the deepest value on the way to `key` that was read from a file.
  Place nearest_place(std::string_view key) const {
    for (auto rest = key; !rest.empty();
         rest = rest.substr(0, rest.find_last_of('.') == rest.npos ? 0 : rest.find_last_of('.'))) {
      if (const auto& place = node_.deepest(rest).place; !place.file.empty()) return place;
    }
    return place_;
  }

  const Tree* take(std::string_view key) {
    read_.insert(std::string(key));
    return node_.find(key);
  }

  void reject_unread_keys(const std::vector<std::string>& known) {
    for (const auto& [key, value] : node_.entries) {
      if (read_.count(key)) continue;
      const auto owner = owner_of_ ? owner_of_(key) : std::string();
      note(value.place, child_path(key),
           owner.empty() ? "no such key; allowed are: " + list(known) + advice(key, known) : owner);
    }
  }

  std::string advice(const std::string& key, const std::vector<std::string>& known) const {
    if (const auto colon = key.find(':'); colon != std::string::npos)
      return " (a blank must follow the colon: '" + key.substr(0, colon) + ": " + key.substr(colon + 1) + "')";
    const auto elsewhere = other_places(key, path_, paths_ ? paths_() : std::vector<std::string>());
    return elsewhere.empty() ? did_you_mean(key, known) : elsewhere;
  }

  static std::string list(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
    return text.empty() ? "none" : text;
  }

  template <class T>
  void check(const Tree& value, const std::string& path, const T& field, const Bound& bound) {
    if constexpr (std::is_arithmetic_v<T>) {
      if (!bound.holds(static_cast<double>(field)))
        note(value.place, path, "is " + one_line(value) + "; must be " + std::string(bound.allowed));
    } else if constexpr (requires { field.has_value(); }) {
      if (field) check(value, path, *field, bound);
    } else {
      for (size_t i = 0; i < field.size(); ++i) check(value.items[i], path + "." + std::to_string(i), field[i], bound);
    }
  }

  bool plain_scalar(const Tree& value, const std::string& path, const std::string& expected) {
    if (value.is_scalar() && !value.quoted) return true;
    note(value.place, path, "must be " + expected + ", not " + shown(value));
    return false;
  }

  void read(const Tree& value, const std::string& path, double& field) {
    if (!plain_scalar(value, path, "a number")) return;
    if (const auto number = parse_number(value.text)) {
      field = *number;
    } else {
      note(value.place, path, "must be a decimal number such as 0.1 or 1e-4, not " + shown(value));
    }
  }

  void read(const Tree& value, const std::string& path, int64_t& field) {
    if (!plain_scalar(value, path, "a whole number")) return;
    if (const auto number = parse_integer(value.text)) {
      field = *number;
    } else {
      note(value.place, path, "must be a whole decimal number that fits in 64 bits, not " + shown(value));
    }
  }

  void read(const Tree& value, const std::string& path, bool& field) {
    if (!plain_scalar(value, path, "true or false")) return;
    if (const auto answer = parse_bool(value.text)) {
      field = *answer;
    } else {
      note(value.place, path, "must be true or false, not " + shown(value));
    }
  }

  void read(const Tree& value, const std::string& path, std::string& field) {
    if (value.is_scalar()) {
      field = value.text;
    } else {
      note(value.place, path, "must be text, not " + shown(value));
    }
  }

  void read(const Tree& value, const std::string&, Tree& field) { field = value; }

  template <NamedEnum E>
  void read(const Tree& value, const std::string& path, E& field) {
    std::vector<std::string> known;
    for (const auto& [candidate, name] : names(E{})) {
      if (value.is_scalar() && value.text == name) {
        field = candidate;
        return;
      }
      known.emplace_back(name);
    }
    note(value.place, path, "is " + shown(value) + "; one of: " + list(known) + did_you_mean(value.text, known));
  }

  /// An absent optional is spelled `auto`.
  template <class T>
  void read(const Tree& value, const std::string& path, std::optional<T>& field) {
    if (value.is_scalar() && value.text == "auto") {
      field.reset();
      return;
    }
    const auto before = problems_.size();
    T content = field.value_or(T{});
    read(value, path, content);
    if (problems_.size() == before) {
      field = std::move(content);
    } else if (problems_.back().path == path && !value.is_map()) {
      problems_.back().message += "; or auto";
    }
  }

  template <class T>
  void read(const Tree& value, const std::string& path, std::vector<T>& field) {
    if (!value.is_list()) {
      note(value.place, path, "must be a list such as [a, b], not " + shown(value));
      return;
    }
    field.clear();
    for (size_t i = 0; i < value.items.size(); ++i)
      read(value.items[i], path + "." + std::to_string(i), field.emplace_back());
  }

  template <HasFields T>
  void read(const Tree& value, const std::string& path, T& field) {
    Reader(value, path, *this).fill_part(field);
  }

  /// A map without `kind` keeps the kind that the field has by default.
  template <class... Kinds>
  void read(const Tree& value, const std::string& path, std::variant<Kinds...>& choice) {
    const std::vector<std::string> known{std::string(Kinds::kind)...};
    if (!value.is_map()) {
      note(value.place, path,
           "must be a map with a kind, as in {kind: " + known.front() + "}, not " + shown(value) +
               "; kinds: " + list(known));
      return;
    }
    const auto* kind = value.find("kind");
    if (kind != nullptr && !kind->is_scalar()) {
      note(kind->place, path + ".kind", "must be one of: " + list(known));
      return;
    }
    const std::string wanted =
        kind ? kind->text : std::visit([](const auto& now) { return std::string(now.kind); }, choice);
    const auto owner = [wanted](const std::string& key) {
      std::string owners;
      const auto look = [&]<class Kind>(const Kind*) {
        for (const auto& candidate : keys_of<Kind>()) {
          if (candidate == key) owners += (owners.empty() ? "" : ", ") + std::string(Kind::kind);
        }
      };
      (look(static_cast<const Kinds*>(nullptr)), ...);
      return owners.empty() ? std::string() : "does not apply to kind " + wanted + "; it is a key of: " + owners;
    };
    const auto take_kind = [&]<class Kind>(const Kind*) {
      if (Kind::kind != wanted) return false;
      Kind config = std::holds_alternative<Kind>(choice) ? std::get<Kind>(choice) : Kind{};
      Reader reader(value, path, *this);
      reader.read_.insert("kind");
      reader.owner_of_ = owner;
      reader.fill_part(config);
      choice = std::move(config);
      return true;
    };
    if (!(take_kind(static_cast<const Kinds*>(nullptr)) || ...))
      note(kind->place, path + ".kind", "no '" + wanted + "'; one of: " + list(known) + did_you_mean(wanted, known));
  }

  const Tree& node_;
  const std::string path_;
  std::vector<Problem>& problems_;
  const Place place_;
  std::set<std::string> read_;
  std::function<std::string(const std::string&)> owner_of_;  // set for a kind: which other kinds have that key
  std::function<std::vector<std::string>()> paths_;          // every path of the whole config
};

/// Reads a whole document into a T; throws ConfigError with every problem.
template <HasFields T>
T read_config(const Tree& tree, const T& defaults = {}) {
  std::vector<Problem> problems;
  T config = defaults;
  Reader(tree, "", problems).fill(config);
  if (!problems.empty()) throw ConfigError(std::move(problems));
  return config;
}

}  // namespace blockzoo
