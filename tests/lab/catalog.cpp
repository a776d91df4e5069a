#include "blockzoo/lab/catalog.h"

#include <nlohmann/json.hpp>
#include <set>

#include "blockzoo/core/config_error.h"
#include "blockzoo/train/run_config.h"
#include "support/catch.h"
#include "support/source_file.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

namespace {

const CatalogFamily& family(const std::string& name) {
  for (const auto& candidate : catalog().families) {
    if (candidate.name == name) return candidate;
  }
  throw std::logic_error("no family " + name);
}

/// Every dotted path that holds a value in a map.
void paths_below(const Tree& tree, const std::string& path, std::set<std::string>& paths) {
  for (const auto& [key, value] : tree.entries) {
    const auto below = path.empty() ? key : path + "." + key;
    paths.insert(below);
    paths_below(value, below, paths);
  }
}

}  // namespace

TEST_CASE("docs/variants.md is what the program lists", "[lab][config]") {
  CHECK(first_difference(source_file("docs/variants.md"), to_markdown(catalog())) == "");
}

TEST_CASE("the catalog holds every kind of every list, in the lists' order", "[lab][config]") {
  const auto has_all = []<class... Kinds>(const std::string& name, const std::variant<Kinds...>&) {
    const std::vector<std::string> expected{std::string(Kinds::kind)...};
    std::vector<std::string> listed;
    for (const auto& kind : family(name).kinds) listed.push_back(kind.name);
    CHECK(listed == expected);
    CHECK(family(name).kinds.front().is_default);
  };
  has_all("layout", LayoutConfig{});
  has_all("norm", NormConfig{});
  has_all("ffn", FfnConfig{});
  has_all("position", PositionConfig{});
  has_all("attention", AttentionConfig{});
  has_all("schedule", ScheduleConfig{});
  has_all("corpus", CorpusConfig{});
  CHECK(family("activation").kinds.size() == names(Activation{}).size());
}

TEST_CASE("every key of the default config is in the catalog", "[lab][config]") {
  std::set<std::string> listed;
  for (const auto& section : catalog().sections) {
    const auto prefix = section.name == "run" ? "" : section.name + ".";
    for (const auto& field : section.fields) listed.insert(prefix + field.key);
  }
  for (const auto& family : catalog().families) {
    for (const auto& place : family.used_at) {
      listed.insert(place + ".kind");
      for (const auto& kind : family.kinds) {
        for (const auto& field : kind.fields) listed.insert(place + "." + field.key);
      }
    }
  }
  std::set<std::string> paths;
  paths_below(to_document(RunConfig{}), "", paths);
  for (const auto& path : paths) {
    INFO(path);
    CHECK(listed.count(path) == 1);
  }
}

TEST_CASE("every listed kind and field says what it is", "[lab][config]") {
  for (const auto& family : catalog().families) {
    CHECK_FALSE(family.used_at.empty());
    for (const auto& kind : family.kinds) {
      INFO(family.name << " " << kind.name);
      CHECK((family.plain || !kind.summary.empty()));
      for (const auto& field : kind.fields) {
        INFO(field.key);
        CHECK_FALSE(field.doc.empty());
        CHECK_FALSE(field.default_value.empty());
      }
    }
  }
  for (const auto& section : catalog().sections) {
    for (const auto& field : section.fields) CHECK_FALSE(field.doc.empty());
  }
}

TEST_CASE("a listed default is read as the value that it stands for", "[lab][config]") {
  for (const auto& section : catalog().sections) {
    if (section.name.find("[]") != std::string::npos) continue;
    for (const auto& field : section.fields) {
      if (field.default_value.empty()) continue;
      const auto path = section.name == "run" ? field.key : section.name + "." + field.key;
      INFO(path << " = " << field.default_value);
      const auto config = patched(RunConfig{}, nested(path, parse_yaml(field.default_value, "default")), "");
      CHECK(to_document(config) == to_document(RunConfig{}));
    }
  }
}

TEST_CASE("one family, one section or one kind can be chosen", "[lab][config]") {
  const auto norms = select(catalog(), "norm");
  CHECK(norms.families.size() == 1);
  CHECK(norms.sections.empty());
  CHECK(select(catalog(), "train").sections.size() == 1);
  CHECK(select(catalog(), "block").sections.front().name == "model.block");

  const auto rope = select(catalog(), "rope");
  REQUIRE(rope.families.size() == 1);
  CHECK(rope.families.front().kinds.size() == 1);
  CHECK_THAT(to_text(rope), ContainsSubstring("theta"));
  CHECK(select(catalog(), "none").families.size() > 3);
  CHECK(select(catalog(), "glu").names.size() == 1);  // the kind, and the name
}

TEST_CASE("each name from the literature is settings that a block takes, and says where it is from", "[lab][config]") {
  for (const auto& [name, block, source] : catalog().names) {
    INFO(name);
    CHECK_NOTHROW(patched(RunConfig{}, nested("model.block", parse_yaml(block, name)), ""));
    CHECK_FALSE(source.empty());
  }
  CHECK(select(catalog(), "swiglu").names.front().block == "{ffn: {kind: glu, activation: silu}}");
  CHECK_THAT(to_text(select(catalog(), "GQA")), ContainsSubstring("kv_heads: 2"));
}

TEST_CASE("an unknown name is refused with the names that exist", "[lab][error]") {
  CHECK_THROWS_WITH(select(catalog(), "norms"), ContainsSubstring("families and sections: run, model") &&
                                                    ContainsSubstring("did you mean 'norm'?"));
  CHECK_THROWS_WITH(select(catalog(), "rms_nrom"), ContainsSubstring("did you mean 'rms_norm'?"));
}

TEST_CASE("the list as JSON has every family with its kinds and fields", "[lab][config]") {
  const auto json = nlohmann::json::parse(to_json(catalog()));
  CHECK(json["families"].size() == catalog().families.size());
  CHECK(json["families"][0]["name"] == "layout");
  CHECK(json["families"][0]["kinds"][0]["kind"] == "pre_norm");
  CHECK(json["families"][1]["kinds"][0]["fields"][0]["default"] == "1.0e-06");
}

}  // namespace blockzoo
