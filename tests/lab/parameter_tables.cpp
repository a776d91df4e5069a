#include "blockzoo/lab/parameter_tables.h"

#include <regex>

#include "support/catch.h"
#include "support/source_file.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("docs/parameters.md is what the models have", "[lab][torch][config]") {
  CHECK(first_difference(source_file("docs/parameters.md"), parameter_tables()) == "");
}

TEST_CASE("every shape is written in symbols", "[lab][torch]") {
  const auto tables = parameter_tables();
  const std::regex number(R"(\[[^\]]*\b([2-9]|[1-9][0-9]+)\b[^\]]*\] \|)");
  std::smatch found;
  INFO((std::regex_search(tables, found, number) ? found.str() : ""));
  CHECK(found.empty());
}

TEST_CASE("a table says which setting a parameter hangs on", "[lab][torch]") {
  const auto tables = parameter_tables();
  CHECK_THAT(tables, ContainsSubstring("| `embedding.weight` | [V, D] | unless `embedding_width` is given |"));
  CHECK_THAT(tables,
             ContainsSubstring("| `head.weight` | [V, D] | unless `embedding_width` is given or `tied: true` |"));
  CHECK_THAT(tables, ContainsSubstring("| `blocks.N.attention.key.weight` | [G K, D] | always |"));
  CHECK_THAT(tables,
             ContainsSubstring("| `blocks.N.attention.query_norm.gain` | [K] | when `qk_norm: {kind: head}` |"));
  CHECK_THAT(tables, ContainsSubstring("| `blocks.N.ffn.down.bias` | [D] | when `bias: true` |"));
  CHECK_THAT(tables, ContainsSubstring(
                         "| `blocks.N.attention.query_down.weight` | [query_rank, D] | when `query_rank` is given |"));
}

}  // namespace blockzoo
