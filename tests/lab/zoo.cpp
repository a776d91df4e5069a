#include "blockzoo/lab/zoo.h"

#include <nlohmann/json.hpp>
#include <set>

#include "blockzoo/nn/smaller.h"
#include "blockzoo/train/session.h"
#include "lab/zoo_columns.h"
#include "support/catch.h"
#include "support/source_file.h"
#include "support/tiny_run.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

namespace {

const ZooModel& named(const std::string& name) {
  for (const auto& model : zoo()) {
    if (model.name == name) return model;
  }
  throw std::logic_error("no model " + name);
}

ZooCell cell(const ZooModel& model, const std::string& column) {
  for (const auto& candidate : zoo_columns()) {
    if (candidate.name == column) return candidate.cell(model);
  }
  throw std::logic_error("no column " + column);
}

std::set<std::string> words(const ZooModel& model, const std::string& column) {
  const auto found = cell(model, column).words;
  return {found.begin(), found.end()};
}

std::vector<std::string> names_in(const ZooView& view) {
  std::vector<std::string> names;
  for (const auto& row : nlohmann::json::parse(zoo_table_json(zoo(), view))) names.push_back(row["name"]);
  return names;
}

}  // namespace

TEST_CASE("the models of the zoo have the published number of parameters", "[lab][torch][count]") {
  size_t whole = 0;
  for (const auto& [name, about, config, count, decay_is_told] : zoo()) {
    INFO(name);
    REQUIRE(about.parameters.has_value());
    CHECK(count.total == *about.parameters + about.difference);
    CHECK_FALSE(about.name.empty());
    CHECK(about.year.has_value());
    CHECK_FALSE(about.source.empty());
    if (about.difference != 0) CHECK_FALSE((about.missing.empty() && about.note.empty()));
    int64_t parts = 0;
    for (const auto& [part, number] : count.by_part) parts += number;
    CHECK(parts == count.total);
    if (about.difference == 0) ++whole;
  }
  CHECK(whole >= 62);
  CHECK(zoo().size() >= 80);
}

TEST_CASE("a tiny copy of every model makes its choices", "[lab][torch][smaller]") {
  for (const auto& model : zoo()) {
    INFO(model.name);
    auto small = model;
    small.config.model = tiny(model.config.model);
    small.count = count_parameters(small.config.model);
    CHECK(small.count.total >= 50'000);
    CHECK(small.count.total <= 1'000'000);
    CHECK(small.config.model.vocabulary == 256);
    for (const auto* column :
         {"norm", "layout", "position", "attention", "ffn", "tied", "biases", "window", "stabilisers", "dropout"}) {
      INFO(column);
      CHECK(words(small, column) == words(model, column));
    }
    for (const auto& layer : expand_layers(small.config.model)) {
      std::visit([&](const auto& attention) { CHECK(attention.window < small.config.model.context); }, layer.attention);
    }
  }
}

TEST_CASE("a tiny copy of every model trains", "[lab][torch][smaller]") {
  for (const auto& model : zoo()) {
    INFO(model.name);
    auto run = tiny_run();
    run.model = tiny(model.config.model);
    run.model.context = std::min<int64_t>(run.model.context, 48);
    run.train.batch = 2;
    Session session(run);
    std::vector<double> losses;
    for (int step = 0; step < 3; ++step) {
      const auto result = session.advance();
      CHECK(result.finite);
      CHECK(result.gradient_norm > 0);
      losses.push_back(result.loss);
    }
    CHECK(losses.front() > std::log(256.0) - 0.5);  // nothing is known yet
    CHECK(losses.back() != losses.front());
  }
}

TEST_CASE("dense decoders have every parameter of their model", "[lab][torch][count]") {
  const auto total = [](const char* name) { return named(name).count.total; };
  CHECK(total("chinchilla-70b") == 70'056'681'472);
  CHECK(total("gemma4-31b-text") == 30'697'345'340);
  CHECK(total("gemma4-e2b-text") == 4'628'569'379);  // and 20 x keys, values and norms of keys that nothing reads:
  CHECK(total("gemma4-e2b-text") + 16 * (2 * 1536 * 256 + 256) + 4 * (2 * 1536 * 512 + 512) == 4'647'449'891);
  CHECK(total("gemma4-e4b-text") == 7'463'013'418);
  CHECK(total("gemma4-e4b-text") + 15 * (2 * 2560 * 512 + 256) + 3 * (2 * 2560 * 1024 + 512) == 7'518'069'034);
}

TEST_CASE("the zoo's table is filtered by choice and by figure", "[lab][torch]") {
  CHECK(names_in({.filter = "position=alibi"}) == std::vector<std::string>{"bloom-176b", "bloom-560m"});
  CHECK(names_in({.filter = "attention=mqa,year<2023"}) == std::vector<std::string>{"palm-540b"});
  CHECK(names_in({.filter = "position=none"}).size() == 4);
  for (const auto& name : names_in({.filter = "norm!=rms_norm,parameters>=1e10"})) {
    CHECK(words(named(name), "norm").count("layer_norm") == 1);
    CHECK(named(name).count.total >= 10'000'000'000);
  }
  const auto refused = [](const ZooView& view) {
    try {
      zoo_table(zoo(), view);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refused({.filter = "norm=rmsnorm"}),
             ContainsSubstring("no model has norm 'rmsnorm'") && ContainsSubstring("did you mean 'rms_norm'?"));
  CHECK_THAT(refused({.filter = "nrom=rms_norm"}), ContainsSubstring("did you mean 'norm'?"));
  CHECK_THAT(refused({.filter = "norm"}), ContainsSubstring("is no condition"));
  CHECK_THAT(refused({.filter = "norm="}), ContainsSubstring("says no value"));
  CHECK_THAT(refused({.filter = "year<new"}), ContainsSubstring("which is no number"));
  CHECK_THAT(refused({.sort = "size"}), ContainsSubstring("--sort: no column 'size'"));
  CHECK_THAT(refused({.columns = "name,"}), ContainsSubstring("--columns: no column ''"));
}

TEST_CASE("the zoo's table is sorted by any column, up or down", "[lab][torch]") {
  const auto up = names_in({.sort = "parameters"});
  const auto down = names_in({.sort = "-parameters"});
  CHECK(up.size() == zoo().size());
  CHECK(up.front() == "cs336-test-fixture");
  CHECK(down.front() == up.back());
  for (size_t i = 1; i < up.size(); ++i) CHECK(named(up[i - 1]).count.total <= named(up[i]).count.total);
  CHECK(names_in({.sort = "year"}).front().starts_with("transformer-"));
}

TEST_CASE("a model's choices are said as the literature says them", "[lab][torch]") {
  const auto text = [](const char* name, const char* column) { return cell(named(name), column).text; };
  CHECK(text("llama3-8b", "attention") == "GQA 32/8");
  CHECK(text("deepseek-v3", "attention") == "MLA 128");
  CHECK(text("palm-540b", "head_ratio") == "0.67");
  CHECK(text("t5-11b", "head_ratio") == "16");
  CHECK(text("t5-11b", "ffn_ratio") == "64");
  CHECK(text("bloom-176b", "aspect") == "204.8");
  CHECK(text("command-r7b", "position") == "24x rope, 8x none");
  CHECK(text("gemma3-1b", "window") == "22x 512, 4x full");
  CHECK(text("gpt-neox-20b", "position") == "rope 25 %");
  CHECK(text("phi-2", "biases") == "q k v o ffn head");
  CHECK(text("gemma4-e2b-text", "attention") == "15x MQA 8/1, 20x MQA 8/1 reused k v");
  CHECK(text("gemma4-31b-text", "attention") == "50x GQA 32/16, 10x GQA 32/4 k = v");
  CHECK(text("chinchilla-70b", "position") == "transformer_xl");
  CHECK(text("gemma2-2b", "stabilisers") == "softcap 50, embedding_scale, final_softcap 30");
}

TEST_CASE("one model is shown in full, as YAML that reads back", "[lab][torch]") {
  const auto model = zoo_model("gemma2-2b", "1/16");
  CHECK(model.name == "gemma2-2b x 1/16");
  const auto text = zoo_text(model);
  CHECK_THAT(text, ContainsSubstring("arXiv:2408.00118") && ContainsSubstring("2,614,341,888 (exact)"));
  const auto read = read_run_config(parse_yaml(text, "shown"), {});
  CHECK(count_parameters(read.model).total == model.count.total);
  const auto json = nlohmann::json::parse(zoo_json(named("gemma4-26b-a4b-text")));
  CHECK(json["parameters"] == 3811375390);
  CHECK(json["about"]["parameters"] == 25233141790);
  CHECK(json["about"]["difference"] == -21421766400);
  CHECK(json["norm"] == "rms_norm");
}

TEST_CASE("in JSON figures are numbers and choices are text", "[lab][torch]") {
  const auto rows = nlohmann::json::parse(zoo_table_json(zoo(), {.filter = "name=command-r7b"}));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].size() == zoo_columns().size());
  CHECK(rows[0]["parameters"] == 8028033024);
  CHECK(rows[0]["attention"] == "GQA 32/8");
  CHECK(rows[0]["window"] == "24x 4096, 8x full");
  CHECK(rows[0]["ffn_ratio"] == 3.5);
  CHECK(rows[0]["year"] == 2024);
  const auto mixed = nlohmann::json::parse(zoo_json(named("gemma4-e2b-text")));
  CHECK(mixed["ffn_ratio"] == "15x 4, 20x 8");
}

TEST_CASE("docs/zoo.md is what the program lists", "[lab][torch][config]") {
  CHECK(first_difference(source_file("docs/zoo.md"), zoo_page(zoo())) == "");
}

}  // namespace blockzoo
