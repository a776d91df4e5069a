#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace blockzoo {

/// One key of a config.
struct CatalogField {
  std::string key;
  std::string type;           // "number", "whole number", "true or false", "text", or the name of a family or section
  std::string default_value;  // YAML on one line; empty for a section, which has defaults of its own
  std::string allowed;        // empty when the type says it all
  std::string doc;
};

/// One variant of a family, or one value of a family of plain values.
struct CatalogKind {
  std::string name;
  std::string summary;
  std::string source;
  std::vector<CatalogField> fields;
  bool is_default = false;  // what the family is when no kind is named
};

/// Variants that exclude each other.
struct CatalogFamily {
  std::string name;
  std::string doc;
  bool plain = false;                // written as a bare word, not as {kind: ...}
  std::vector<std::string> used_at;  // dotted paths from the top of a run file
  std::vector<CatalogKind> kinds;
};

/// A map of a run file that has no kinds.
struct CatalogSection {
  std::string name;  // dotted path; "run" for the top
  std::vector<CatalogField> fields;
};

/// A name from the literature, and what it is here.
struct CatalogName {
  std::string name;
  std::string block;  // YAML, keys of model.block
  std::string source;
};

/// Everything that a run file can say, gathered from the config structs themselves.
struct Catalog {
  std::vector<CatalogSection> sections;
  std::vector<CatalogFamily> families;
  std::vector<CatalogName> names;
};

const Catalog& catalog();

/// What has that name: a family or a section, else a kind in every family that has one, and names from the literature
/// in any case. Errors: ConfigError with the names that exist.
Catalog select(const Catalog& catalog, std::string_view name);

std::string to_text(const Catalog& catalog);
std::string to_markdown(const Catalog& catalog);
std::string to_json(const Catalog& catalog);

}  // namespace blockzoo
