#include "blockzoo/lab/export_table.h"

#include "blockzoo/hub/hugging_face.h"
#include "support/catch.h"
#include "support/source_file.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("the README's table of exports is what the program lists", "[lab][hub][torch][config]") {
  const auto readme = source_file("README.md");
  const std::string begin = "<!-- blockzoo list --exports -->\n", end = "<!-- end -->\n";
  const auto from = readme.find(begin);
  REQUIRE(from != readme.npos);
  const auto to = readme.find(end, from);
  REQUIRE(to != readme.npos);
  const auto table = readme.substr(from + begin.size(), to - from - begin.size());
  CHECK(first_difference(table, export_table(zoo())) == "");
}

TEST_CASE("every class and every model of the zoo is in the table of exports", "[lab][hub][torch]") {
  const auto table = export_table(zoo());
  for (const auto& name : hub_class_names()) CHECK_THAT(table, ContainsSubstring("| `" + name + "` |"));
  for (const auto& model : zoo()) CHECK_THAT(table, ContainsSubstring("`" + model.name + "`"));
  const auto reasons = export_reasons(zoo());
  CHECK_THAT(reasons, ContainsSubstring("| `chinchilla-70b` | the nearest, ") && ContainsSubstring("transformer_xl"));
  CHECK_THAT(reasons, !ContainsSubstring("llama3-8b"));
}

TEST_CASE("models that transformers has are exported to its own class", "[lab][hub][torch]") {
  const auto class_of = [](const std::string& name) { return export_class(zoo_model(name).config.model).name; };
  CHECK(class_of("llama3-8b") == "LlamaForCausalLM");
  CHECK(class_of("gpt2-small") == "GPT2LMHeadModel");
  CHECK(class_of("gemma3-4b-text") == "Gemma3ForCausalLM");
  CHECK(class_of("gemma4-e2b-text") == "Gemma4ForCausalLM");
  CHECK(class_of("opt-350m") == "OPTForCausalLM");
}

}  // namespace blockzoo
