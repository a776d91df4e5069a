#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "blockzoo/lab/catalog.h"

namespace blockzoo {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string meaning(const CatalogField& field) {
  return field.allowed.empty() ? field.doc : field.doc + " (" + field.allowed + ")";
}

size_t longest_key(const std::vector<CatalogField>& fields) {
  size_t longest = 0;
  for (const auto& field : fields) longest = std::max(longest, field.key.size());
  return longest;
}

void text_fields(const std::vector<CatalogField>& fields, int indent, std::string& out) {
  size_t longest_default = 0;
  for (const auto& field : fields)
    longest_default = std::max(longest_default, std::min<size_t>(field.default_value.size(), 24));
  for (const auto& field : fields) {
    out += fmt::format("{:{}}{:{}}  {:{}}  {}\n", "", indent, field.key, longest_key(fields), field.default_value,
                       longest_default, meaning(field));
  }
}

/// Bars would end a cell.
std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

void markdown_fields(const std::vector<CatalogField>& fields, std::string& out) {
  out += "| key | type | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const auto& field : fields) {
    out += fmt::format("| {} | {} | {} | {} |\n", code(field.key), field.type, cell(code(field.default_value)),
                       cell(meaning(field)));
  }
  out += "\n";
}

std::string_view mark(const CatalogKind& kind) { return kind.is_default ? " (default)" : ""; }

nlohmann::ordered_json json_fields(const std::vector<CatalogField>& fields) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& field : fields) {
    list.push_back({{"key", field.key},
                    {"type", field.type},
                    {"default", field.default_value},
                    {"allowed", field.allowed},
                    {"doc", field.doc}});
  }
  return list;
}

}  // namespace

std::string to_text(const Catalog& catalog) {
  std::string out;
  for (const auto& family : catalog.families) {
    out += fmt::format("{}{}: {}\n  at {}\n", out.empty() ? "" : "\n", family.name, family.doc,
                       joined(family.used_at, ", "));
    for (const auto& kind : family.kinds) {
      out += fmt::format("{}  {}{}{}{}\n", family.plain ? "" : "\n", kind.name, mark(kind),
                         kind.summary.empty() ? "" : "  ", kind.summary);
      if (!kind.source.empty()) out += fmt::format("    source: {}\n", kind.source);
      text_fields(kind.fields, 4, out);
    }
  }
  for (const auto& section : catalog.sections) {
    out += fmt::format("{}{}:\n", out.empty() ? "" : "\n", section.name);
    text_fields(section.fields, 2, out);
  }
  if (!catalog.names.empty()) out += fmt::format("{}known as, in model.block:\n", out.empty() ? "" : "\n");
  for (const auto& [name, block, source] : catalog.names)
    out += fmt::format("  {:24}  {}\n{:28}source: {}\n", name, block, "", source);
  return out;
}

std::string to_markdown(const Catalog& catalog) {
  std::string out =
      "# What a run file can say\n\n"
      "Written by `blockzoo list --markdown` from the config structs; a test fails when this page is stale.\n\n";
  for (const auto& family : catalog.families) {
    out += fmt::format("## {}\n\n{}; used at `{}`.\n\n", family.name, family.doc, joined(family.used_at, "`, `"));
    const bool described =
        std::any_of(family.kinds.begin(), family.kinds.end(), [](const auto& kind) { return !kind.summary.empty(); });
    if (!described) {
      for (const auto& kind : family.kinds)
        out += fmt::format("{}`{}`", &kind == family.kinds.data() ? "" : ", ", kind.name);
      out += "\n\n";
      continue;
    }
    out += fmt::format("| {} | what it is | source |\n| --- | --- | --- |\n", family.plain ? "value" : "kind");
    for (const auto& kind : family.kinds) {
      out += fmt::format("| {}{} | {} | {} |\n", code(kind.name), mark(kind), cell(kind.summary), cell(kind.source));
    }
    out += "\n";
    for (const auto& kind : family.kinds) {
      if (kind.fields.empty()) continue;
      out += fmt::format("### {}: {}\n\n", family.name, code(kind.name));
      markdown_fields(kind.fields, out);
    }
  }
  for (const auto& section : catalog.sections) {
    out += fmt::format("## The section {}\n\n", code(section.name));
    markdown_fields(section.fields, out);
  }
  if (!catalog.names.empty()) {
    out +=
        "## Known as\n\nNames from papers and model cards, and what they are here, as keys of `model.block`.\n\n"
        "| name | settings | source |\n| --- | --- | --- |\n";
    for (const auto& [name, block, source] : catalog.names)
      out += fmt::format("| {} | `{}` | {} |\n", name, block, source);
    out += "\n";
  }
  out.pop_back();
  return out;
}

std::string to_json(const Catalog& catalog) {
  nlohmann::ordered_json json = {{"families", nlohmann::ordered_json::array()},
                                 {"sections", nlohmann::ordered_json::array()}};
  for (const auto& family : catalog.families) {
    auto kinds = nlohmann::ordered_json::array();
    for (const auto& kind : family.kinds) {
      kinds.push_back({{"kind", kind.name},
                       {"default", kind.is_default},
                       {"summary", kind.summary},
                       {"source", kind.source},
                       {"fields", json_fields(kind.fields)}});
    }
    json["families"].push_back({{"name", family.name},
                                {"doc", family.doc},
                                {"plain", family.plain},
                                {"used_at", family.used_at},
                                {"kinds", kinds}});
  }
  for (const auto& section : catalog.sections)
    json["sections"].push_back({{"name", section.name}, {"fields", json_fields(section.fields)}});
  json["names"] = nlohmann::ordered_json::array();
  for (const auto& [name, block, source] : catalog.names)
    json["names"].push_back({{"name", name}, {"block", block}, {"source", source}});
  return json.dump(2) + "\n";
}

}  // namespace blockzoo
