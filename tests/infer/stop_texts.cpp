#include "blockzoo/infer/stop_texts.h"

#include "support/catch.h"

namespace blockzoo {
namespace {

/// What is handed out piece by piece, in brackets, and at the end.
std::string pieces_of(StopTexts& stops, const std::vector<std::string>& texts) {
  std::string out;
  for (const auto& text : texts) out += "[" + stops.push(text) + "]";
  return out + stops.finish();
}

}  // namespace

TEST_CASE("a text is cut before the first stop text, however it comes in pieces", "[infer]") {
  const std::string text = "one\n\ntwo END three";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    for (size_t second = cut; second <= text.size(); ++second) {
      StopTexts stops({"END", "three", "two E"});
      std::string out = stops.push(text.substr(0, cut));
      out += stops.push(text.substr(cut, second - cut));
      out += stops.push(text.substr(second));
      out += stops.finish();
      CHECK(out == "one\n\n");
      CHECK(stops.found());
    }
  }
}

TEST_CASE("what may begin a stop text is held back, and comes when it does not", "[infer]") {
  StopTexts stops({"aab", "ba"});
  CHECK(pieces_of(stops, {"xa", "a", "a", "c", "aa"}) == "[x][][a][aac][]aa");
  CHECK_FALSE(stops.found());
  StopTexts none({});
  CHECK(pieces_of(none, {"a", "b"}) == "[a][b]");
  CHECK_THROWS_WITH(StopTexts({""}), "stop must not be empty");
  CHECK_THROWS_WITH(StopTexts({"\xC3"}), Catch::Matchers::ContainsSubstring("must be valid UTF-8"));
}

}  // namespace blockzoo
