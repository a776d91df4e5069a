#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/program.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

/// What `blockzoo account` says; with another exit code than 0, of its errors.
std::string account_says(const std::vector<std::string>& more, int code = 0) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"account"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Program program(folder.path(), arguments);
  const int ended = program.wait();
  INFO(program.error());
  REQUIRE(ended == code);
  return code == 0 ? program.out() : program.error();
}

}  // namespace

TEST_CASE("account prints tables for people and JSON for programs, by the conventions that are asked for",
          "[program][account][torch]") {
  const auto text = account_says({"llama3-8b", "--precision", "bfloat16", "--batch", "8", "--device", "h100"});
  CHECK_THAT(text,
             ContainsSubstring("8,030,261,248 parameters") && ContainsSubstring("a token             131,072 bytes"));
  const auto json = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"gpt2-small", "--json"});
    return nlohmann::json::parse(account_says(more));
  };
  const auto all = json({}), visible = json({"--visible-pairs"});
  CHECK(visible["forward_flops"]["scores"].get<double>() ==
        Approx(all["forward_flops"]["scores"].get<double>() / 2).epsilon(0.01));
  const auto fused = json({"--kept", "fused", "--batch", "4"}), slow = json({"--kept", "reference", "--batch", "4"});
  CHECK(fused["memory_bytes"]["peak"] < slow["memory_bytes"]["peak"]);
  const auto sweep = json({"--sweep", "context=256..1024"});
  REQUIRE(sweep.size() == 3);
  CHECK(sweep[2]["context"] == 1024);
  CHECK_THAT(account_says({"gpt2-small", "--advise"}),
             ContainsSubstring("nearest\n  gpt2-small (2019), distance 0.00"));
}

TEST_CASE("What account cannot do is refused in one sentence", "[program][account][error]") {
  CHECK_THAT(account_says({"llama9"}, 2), ContainsSubstring("llama9: cannot be read"));
  CHECK_THAT(account_says({"gpt2-small", "--batch", "0"}, 1), ContainsSubstring("--batch: must be above 0, got 0\n"));
  CHECK_THAT(account_says({"gpt2-small", "--mfu", "2"}, 1),
             ContainsSubstring("--mfu: must be above 0 and at most 1, got 2"));
  CHECK_THAT(account_says({"gpt2-small", "--device", "abacus"}, 2), ContainsSubstring("is 'abacus'; one of: v100"));
  CHECK_THAT(account_says({"gpt2-small", "--sweep", "width=1"}, 2), ContainsSubstring("give context=1024..131072"));
  CHECK_THAT(account_says({"gpt2-small", "--steps", "5"}, 2), ContainsSubstring("needs --device"));
  CHECK_THAT(account_says({"gpt2-small", "--kept", "fused", "--logit-copies", "2"}, 2),
             ContainsSubstring("has no effect"));
}

}  // namespace blockzoo
