#include "blockzoo/text/token_texts.h"

#include "blockzoo/text/byte_tokenizer.h"
#include "support/catch.h"

namespace blockzoo {

TEST_CASE("tokens are shown as text, and never as half a character", "[text]") {
  const ByteTokenizer bytes;
  CHECK(token_texts(bytes, bytes.encode("aé\n")) == std::vector<std::string>{"a", "<0xC3>", "<0xA9>", "\n"});
  const auto whole = open_tokenizer(std::string(BLOCKZOO_SOURCE_DIR) + "/tests/golden/text/smollm2.json");
  const std::string text = "Once upon a time, 猫 and 🙂 went";
  const auto ids = whole->encode(text);
  std::string joined, shown;
  for (const auto& piece : token_texts(*whole, ids)) {
    CHECK_FALSE(piece.empty());
    joined += piece;
    shown += visible_text(piece);
  }
  CHECK(joined.find("Once upon") == 0);
  CHECK(shown.find(' ') == std::string::npos);
  const auto llama = open_tokenizer(std::string(BLOCKZOO_SOURCE_DIR) + "/tests/golden/text/llama2.json");
  std::string all;
  for (const auto& piece : token_texts(*llama, llama->encode("Tom and Tim"))) all += piece;
  CHECK(all == "Tom and Tim");
}

TEST_CASE("labels stand on one line and fill their columns", "[text]") {
  CHECK(visible_text(" a\n\t\x1b") == "␣a\\n\\t\\x1B");
  CHECK(visible_text("").size() == 2);
  CHECK(in_columns("abc", 5) == "abc  ");
  CHECK(in_columns("abcde", 5) == "abcde");
  CHECK(in_columns("abcdef", 5) == "abcd…");
  CHECK(in_columns("猫猫猫", 6) == "猫猫猫");
  CHECK(in_columns("猫猫猫", 5) == "猫猫…");
  CHECK(in_columns("a猫猫", 4) == "a猫…");
  CHECK(in_columns("猫猫猫", 4) == "猫… ");
  CHECK(in_columns("e\xcc\x81x", 2) == "e\xcc\x81x");  // a letter and its accent are one column
}

}  // namespace blockzoo
