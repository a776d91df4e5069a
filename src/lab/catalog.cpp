#include "blockzoo/lab/catalog.h"

#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include "core/reader.h"
#include "core/writer.h"
#include "lab/family_names.h"
#include "lab/known_names.h"

namespace blockzoo {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

/// A choice as a user would write it: its kind, and what differs from that kind's own defaults.
template <class... Kinds>
Tree shortest(const std::variant<Kinds...>& choice) {
  Tree tree = Tree::map();
  std::visit(
      [&]<class Kind>(const Kind& config) {
        tree["kind"] = Tree::scalar(std::string(Kind::kind));
        const Tree own = to_tree(Kind{});
        for (const auto& [key, value] : to_tree(config).entries) {
          if (!(value == *own.find(key))) tree[key] = value;
        }
      },
      choice);
  return tree;
}
Tree shortest(const auto& field) { return to_tree(field); }

/// Walks the field lists from RunConfig down, through every kind of every family.
class Gatherer {
 public:
  template <HasFields T>
  std::vector<CatalogField> fields_of(const T& config, const std::string& path) {
    Visitor visitor{*this, path, {}};
    T::fields(config, visitor);
    return std::move(visitor.fields);
  }

  template <HasFields T>
  void section(const T& config, const std::string& path) {
    const auto place = sections_.size();
    sections_.push_back({path.empty() ? "run" : path, {}});
    auto fields = fields_of(config, path);
    sections_[place].fields = std::move(fields);
  }

  Catalog take() {
    Catalog catalog{std::move(sections_), {}, kKnownNames};
    for (auto& [order, family] : families_) catalog.families.push_back(std::move(family));
    return catalog;
  }

 private:
  struct Visitor {
    Gatherer& gatherer;
    std::string path;
    std::vector<CatalogField> fields;

    void operator()(std::string_view key, const auto& field, std::string_view doc) {
      fields.push_back(gatherer.describe(field, path.empty() ? std::string(key) : path + "." + std::string(key)));
      fields.back().key = key;
      fields.back().doc = doc;
    }
    void operator()(std::string_view key, const auto& field, const Bound& bound, std::string_view doc) {
      (*this)(key, field, doc);
      auto& allowed = fields.back().allowed;
      allowed = std::string(bound.allowed) + (allowed.empty() ? "" : "; ") + allowed;
    }
  };

  static CatalogField plain(const Tree& value, std::string type, std::string allowed = "") {
    return {
        .key = "", .type = std::move(type), .default_value = one_line(value), .allowed = std::move(allowed), .doc = ""};
  }

  CatalogField describe(double field, const std::string&) { return plain(to_tree(field), "number"); }
  CatalogField describe(int64_t field, const std::string&) { return plain(to_tree(field), "whole number"); }
  CatalogField describe(bool field, const std::string&) { return plain(to_tree(field), "true or false"); }
  CatalogField describe(const std::string& field, const std::string&) { return plain(to_tree(field), "text"); }
  CatalogField describe(const Tree& field, const std::string&) { return plain(field, "YAML"); }

  template <class T>
  CatalogField describe(const std::optional<T>& field, const std::string& path) {
    auto content = describe(field.value_or(T{}), path);
    content.default_value = one_line(to_tree(field));
    content.allowed += content.allowed.empty() ? "or auto" : "; or auto";
    return content;
  }

  template <class T>
  CatalogField describe(const std::vector<T>& field, const std::string& path) {
    const auto content = describe(T{}, path + "[]");
    return plain(to_tree(field), "list of " + content.type, content.allowed);
  }

  template <HasFields T>
  CatalogField describe(const T& field, const std::string& path) {
    section(field, path);
    return {.key = "", .type = path, .default_value = "", .allowed = "", .doc = ""};
  }

  template <NamedEnum E>
  CatalogField describe(E field, const std::string& path) {
    auto& family = family_of<E>(path);
    if (family.kinds.empty()) {
      family.plain = true;
      for (const auto& spelling : names(E{})) {
        auto& kind = family.kinds.emplace_back();
        kind.name = spelling.second;
        if constexpr (requires { about(E{}); }) {
          kind.summary = about(spelling.first).summary;
          kind.source = about(spelling.first).source;
        }
      }
    }
    return plain(to_tree(field), family.name, "one of: " + all_names<E>());
  }

  template <class... Kinds>
  CatalogField describe(const std::variant<Kinds...>& field, const std::string& path) {
    using Choice = std::variant<Kinds...>;
    const bool fresh = family_of<Choice>(path).kinds.empty();
    std::vector<CatalogKind> kinds;
    const auto add = [&]<class Kind>(const Kind& config) {
      auto fields = fields_of(config, path);
      kinds.push_back({.name = std::string(Kind::kind),
                       .summary = std::string(Kind::summary),
                       .source = std::string(Kind::source),
                       .fields = std::move(fields),
                       .is_default = kinds.empty()});
    };
    (add(Kinds{}), ...);
    auto& family = families_.at(family_name<Choice>.order);
    if (fresh) family.kinds = std::move(kinds);
    return plain(shortest(field), family.name, "kinds: " + joined({std::string(Kinds::kind)...}));
  }

  template <class Choice>
  CatalogFamily& family_of(const std::string& path) {
    static_assert(family_name<Choice>.order > 0, "name this family in family_names.h");
    auto& family = families_[family_name<Choice>.order];
    family.name = family_name<Choice>.name;
    family.doc = family_name<Choice>.doc;
    if (std::find(family.used_at.begin(), family.used_at.end(), path) == family.used_at.end())
      family.used_at.push_back(path);
    return family;
  }

  std::vector<CatalogSection> sections_;
  std::map<int, CatalogFamily> families_;
};

}  // namespace

const Catalog& catalog() {
  static const Catalog whole = [] {
    Gatherer gatherer;
    gatherer.section(RunConfig{}, "");
    return gatherer.take();
  }();
  return whole;
}

Catalog select(const Catalog& catalog, std::string_view name) {
  Catalog chosen;
  std::vector<std::string> known;
  for (const auto& section : catalog.sections) {
    known.push_back(section.name);
    const auto last = section.name.substr(section.name.rfind('.') + 1);
    if (section.name == name || last == name) chosen.sections.push_back(section);
  }
  for (const auto& family : catalog.families) {
    known.push_back(family.name);
    if (family.name == name) chosen.families.push_back(family);
  }
  if (!chosen.sections.empty() || !chosen.families.empty()) return chosen;
  std::vector<std::string> kinds;
  for (const auto& family : catalog.families) {
    auto part = family;
    std::erase_if(part.kinds, [&](const CatalogKind& kind) { return kind.name != name; });
    for (const auto& kind : family.kinds) kinds.push_back(kind.name);
    if (!part.kinds.empty()) chosen.families.push_back(std::move(part));
  }
  for (const auto& candidate : catalog.names) {
    kinds.push_back(candidate.name);
    if (lower(candidate.name) == lower(name)) chosen.names.push_back(candidate);
  }
  if (!chosen.families.empty() || !chosen.names.empty()) return chosen;
  auto all = known;
  all.insert(all.end(), kinds.begin(), kinds.end());
  throw ConfigError(Problem{{},
                            "",
                            "no family, section or kind is called '" + std::string(name) +
                                "'; families and sections: " + joined(known) + did_you_mean(name, all)});
}

}  // namespace blockzoo
