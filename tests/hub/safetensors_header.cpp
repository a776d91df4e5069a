#include "hub/safetensors_header.h"

#include <cstring>
#include <random>

#include "hub/files.h"
#include "support/catch.h"

using Catch::Matchers::ContainsSubstring;

namespace blockzoo::test {

namespace {

std::string entry(const std::string& type, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

std::string refusal(const std::string& json, uint64_t data_bytes = 24) {
  const auto error = error_of([&] { parse_header(json, data_bytes, "weights.file"); });
  INFO(json.substr(0, 200));
  REQUIRE_THAT(error, Catch::Matchers::StartsWith("weights.file: "));
  return error.substr(std::strlen("weights.file: "));
}

std::string length_refusal(uint64_t length, uint64_t file_bytes) {
  const std::string first(reinterpret_cast<const char*>(&length), std::min<uint64_t>(file_bytes, sizeof(length)));
  return error_of([&] { read_header_length(first, file_bytes, "weights.file"); });
}

}  // namespace

TEST_CASE("a valid header is read in the order of its bytes", "[hub]") {
  const auto json = R"({"__metadata__":{"format":"pt","dtype":"x"}, "b":)" + entry("F32", "[2, 3]", "[0, 24]") +
                    R"(,"é":)" + entry("F16", "[]", "[24,26]") + R"(,"":)" + entry("BOOL", "[0,7]", "[26,26]") +
                    R"(,"a":)" + entry("I64", "[1]", "[26,34]") + "}  \n";
  const auto header = parse_header(json, 34, "file");
  REQUIRE(header.tensors.size() == 4);
  REQUIRE(header.tensors[0].name == "b");
  REQUIRE(header.tensors[0].shape == std::vector<int64_t>{2, 3});
  REQUIRE(header.tensors[1].name == "é");
  REQUIRE(header.tensors[1].type == StoredType::kF16);
  REQUIRE(header.tensors[1].shape.empty());
  REQUIRE(header.tensors[2].name.empty());
  REQUIRE(header.tensors[3].begin == 26);
  REQUIRE(header.metadata.at("dtype") == "x");
  REQUIRE(parse_header("{}", 0, "file").tensors.empty());
}

TEST_CASE("a header that was written reads back equal and is aligned", "[hub]") {
  SafetensorsHeader header;
  header.metadata = {{"a \"b\"\n", "\x01é"}};
  header.tensors = {{"x", StoredType::kI16, {2, 0, 5}, 0, 0}, {"dtype", StoredType::kF64, {3}, 0, 24}};
  const auto text = format_header(header);
  REQUIRE(text.size() % 8 == 0);
  const auto length = read_header_length(text, text.size() + 24, "file");
  REQUIRE(length == text.size() - 8);
  const auto again = parse_header(text.substr(8), 24, "file");
  REQUIRE(again.metadata == header.metadata);
  REQUIRE(again.tensors.size() == 2);
  REQUIRE(again.tensors[0].shape == header.tensors[0].shape);
  REQUIRE(again.tensors[1].name == "dtype");

  header.tensors[0].name = "dtype";
  REQUIRE_THAT(error_of([&] { format_header(header); }), ContainsSubstring("'dtype' is taken"));
  header.tensors[0].name = "__metadata__";
  REQUIRE_THAT(error_of([&] { format_header(header); }), ContainsSubstring("'__metadata__' is taken"));
  header.tensors[0].name = "\xff";
  REQUIRE_THAT(error_of([&] { format_header(header); }), ContainsSubstring("UTF-8"));
}

TEST_CASE("a header length that the file cannot hold is refused", "[hub]") {
  REQUIRE_THAT(length_refusal(0, 0), ContainsSubstring("weights.file: not a safetensors file: 0 bytes"));
  REQUIRE_THAT(length_refusal(0, 7), ContainsSubstring("weights.file: not a safetensors file: 7 bytes"));
  REQUIRE_THAT(length_refusal(~uint64_t{0}, 100), ContainsSubstring("header length 18446744073709551615"));
  REQUIRE_THAT(length_refusal(~uint64_t{0} - 7, 100), ContainsSubstring("header length 18446744073709551608"));
  REQUIRE_THAT(length_refusal(93, 100), ContainsSubstring("header length 93"));
  REQUIRE_THAT(length_refusal(200'000'000, 300'000'000), ContainsSubstring("above the limit"));
  REQUIRE(length_refusal(92, 100).empty());
}

TEST_CASE("a header that is not the right JSON is refused by position or by field", "[hub]") {
  REQUIRE_THAT(refusal(""), ContainsSubstring("must start with '{'"));
  REQUIRE_THAT(refusal("\xef\xbb\xbf{}"), ContainsSubstring("must start with '{'"));
  REQUIRE_THAT(refusal("[]"), ContainsSubstring("must start with '{'"));
  REQUIRE_THAT(refusal("{"), ContainsSubstring("not valid JSON at its byte"));
  REQUIRE_THAT(refusal("{}x"), ContainsSubstring("not valid JSON at its byte 3"));
  REQUIRE_THAT(refusal("{}{}"), ContainsSubstring("not valid JSON at its byte 3"));
  REQUIRE_THAT(refusal(std::string("{}\0{", 4)), ContainsSubstring("not valid JSON at its byte 3"));
  REQUIRE_THAT(refusal("{\"\xff\":1}"), ContainsSubstring("not valid JSON"));
  REQUIRE_THAT(refusal("{/* */}"), ContainsSubstring("not valid JSON"));
  REQUIRE_THAT(refusal(R"({"a":NaN})"), ContainsSubstring("not valid JSON"));
  REQUIRE_THAT(refusal(R"({"a":1e999})"), ContainsSubstring("not valid JSON"));
  REQUIRE_THAT(refusal(R"({"a":null})"), ContainsSubstring("tensor 'a': must be a map, got null"));
  REQUIRE_THAT(refusal(R"({"a":[1]})"), ContainsSubstring("tensor 'a': must be a map, got a list"));
  REQUIRE_THAT(refusal(R"({"a":{}})"), ContainsSubstring("tensor 'a': dtype is missing"));
  REQUIRE_THAT(refusal(R"({"a":{"dtype":"U8","data_offsets":[0,1]}})"), ContainsSubstring("shape is missing"));
  REQUIRE_THAT(refusal(R"({"a":{"dtype":"U8","shape":[1]}})"), ContainsSubstring("data_offsets is missing"));
  REQUIRE_THAT(refusal(R"({"a":{"dtype":7}})"), ContainsSubstring("dtype: must be a text, got the number 7"));
  REQUIRE_THAT(refusal(R"({"a":{"dtype":["U8"]}})"), ContainsSubstring("dtype: must be a text, got a list"));
  REQUIRE_THAT(refusal(R"({"a":{"shape":"U8"}})"), ContainsSubstring("shape: must be a list"));
  REQUIRE_THAT(refusal(R"({"a":{"shape":{"x":1}}})"), ContainsSubstring("shape: must be a list"));
  REQUIRE_THAT(refusal(R"({"a":{"extra":1}})"), ContainsSubstring("tensor 'a': extra: unknown field"));
  REQUIRE_THAT(refusal(R"({"a":{"dtype":"U8","dtype":"U8"}})"), ContainsSubstring("dtype: the field stands twice"));
  REQUIRE_THAT(refusal(R"({"__metadata__":{"a":1}})"), ContainsSubstring("__metadata__: 'a': must be a text"));
  REQUIRE_THAT(refusal(R"({"__metadata__":"x"})"), ContainsSubstring("__metadata__: must be a map"));
  REQUIRE_THAT(refusal(R"({"__metadata__":{"a":"x","a":"y"}})"), ContainsSubstring("'a': the key stands twice"));
  REQUIRE_THAT(refusal(R"({"__metadata__":{},"__metadata__":{}})"), ContainsSubstring("the name stands twice"));
}

TEST_CASE("nesting a million deep costs neither stack nor time", "[hub]") {
  const std::string lists(1'000'000, '['), maps = [] {
    std::string text;
    for (int i = 0; i < 200'000; ++i) text += R"({"a":)";
    return text;
  }();
  REQUIRE_THAT(refusal(R"({"a":{"shape":)" + lists), ContainsSubstring("tensor 'a': shape"));
  REQUIRE_THAT(refusal(R"({"a":)" + lists), ContainsSubstring("tensor 'a': must be a map"));
  REQUIRE_THAT(refusal(maps), ContainsSubstring("tensor 'a'"));
}

TEST_CASE("types, shapes and offsets that cannot be are refused by tensor and field", "[hub]") {
  const auto one = [](const std::string& type, const std::string& shape, const std::string& offsets) {
    return refusal(R"({"w":)" + entry(type, shape, offsets) + "}");
  };
  REQUIRE_THAT(one("F8_E4M3", "[24]", "[0,24]"),
               ContainsSubstring("tensor 'w': dtype: 'F8_E4M3' is not known; one of: F64"));
  REQUIRE_THAT(one("f32", "[6]", "[0,24]"), ContainsSubstring("dtype: 'f32' is not known"));
  REQUIRE_THAT(one("F32", "[-6]", "[0,24]"),
               ContainsSubstring("tensor 'w': shape: must hold whole numbers of 0 or more, got the number -6"));
  REQUIRE_THAT(one("F32", "[6.0]", "[0,24]"), ContainsSubstring("shape: must hold whole numbers"));
  REQUIRE_THAT(one("F32", "[\"6\"]", "[0,24]"), ContainsSubstring("shape: must hold whole numbers"));
  REQUIRE_THAT(one("F32", "[[6]]", "[0,24]"), ContainsSubstring("shape: must hold whole numbers"));
  REQUIRE_THAT(one("F32", "[18446744073709551616]", "[0,24]"), ContainsSubstring("shape: must hold whole numbers"));
  REQUIRE_THAT(one("F32", "[18446744073709551615]", "[0,24]"), ContainsSubstring("shape: a number is above 2^63 - 1"));
  REQUIRE_THAT(one("F32", "[8589934592,8589934592]", "[0,24]"), ContainsSubstring("more bytes than can be counted"));
  REQUIRE_THAT(one("F32", "[4611686018427387905]", "[0,4]"), ContainsSubstring("more bytes than can be counted"));
  REQUIRE_THAT(one("F64", "[0,9223372036854775807]", "[0,0]"), ContainsSubstring("more bytes than can be counted"));
  REQUIRE_THAT(one("U8", "[1" + std::string(200, '1') + "]", "[0,1]"),
               ContainsSubstring("shape: must hold whole numbers"));
  REQUIRE_THAT(one("F32", "[2,2]", "[0,24]"),
               ContainsSubstring("data_offsets [0, 24] hold 24 bytes, but F32 [2, 2] needs 16"));
  REQUIRE_THAT(one("F32", "[6]", "[24,0]"), ContainsSubstring("data_offsets: begin 24 is after end 0"));
  REQUIRE_THAT(one("F32", "[6]", "[0]"), ContainsSubstring("data_offsets: must be two numbers"));
  REQUIRE_THAT(one("F32", "[6]", "[0,24,24]"), ContainsSubstring("data_offsets: must be two numbers"));
  REQUIRE_THAT(one("F32", "[7]", "[0,28]"),
               ContainsSubstring("tensor 'w': data_offsets [0, 28] end after the file's 24 bytes"));
  REQUIRE_THAT(one("F32", "[5]", "[0,20]"), ContainsSubstring("cover 20 of 24 bytes"));
  REQUIRE_THAT(one("F32", "[5]", "[4,24]"),
               ContainsSubstring("tensor 'w': data_offsets [4, 24] leave a gap after byte 0"));
  std::string many = "[1";
  for (int i = 0; i < 100; ++i) many += ",1";
  many += "]";
  REQUIRE_THAT(one("U8", many, "[0,1]"), ContainsSubstring("shape: more than 64 numbers"));

  const auto two = [](const std::string& name, const std::string& first, const std::string& second) {
    return refusal(R"({"v":)" + first + ",\"" + name + "\":" + second + "}");
  };
  REQUIRE_THAT(two("w", entry("U8", "[14]", "[0,14]"), entry("U8", "[14]", "[10,24]")),
               ContainsSubstring("tensor 'w': data_offsets [10, 24] overlap the tensor before, which ends at 14"));
  REQUIRE_THAT(two("w", entry("U8", "[24]", "[0,24]"), entry("U8", "[24]", "[0,24]")), ContainsSubstring("overlap"));
  REQUIRE_THAT(two("w", entry("U8", "[24]", "[0,24]"), entry("U8", "[0]", "[5,5]")), ContainsSubstring("overlap"));
  REQUIRE_THAT(two("w", entry("U8", "[10]", "[0,10]"), entry("U8", "[10]", "[14,24]")),
               ContainsSubstring("tensor 'w': data_offsets [14, 24] leave a gap after byte 10"));
  REQUIRE_THAT(two("v", entry("U8", "[24]", "[0,24]"), entry("U8", "[24]", "[0,24]")),
               ContainsSubstring("tensor 'v': the name stands twice"));
  REQUIRE_THAT(two("\\u0076", entry("U8", "[24]", "[0,24]"), entry("U8", "[24]", "[0,24]")),
               ContainsSubstring("tensor 'v': the name stands twice"));
}

TEST_CASE("a long or strange name is cut and cleaned in a message", "[hub]") {
  const auto error = refusal(R"({"\n\u001b)" + std::string(1'000'000, 'x') + R"(":1})");
  REQUIRE(error.size() < 200);
  REQUIRE_THAT(error, ContainsSubstring("tensor '??xxx") && ContainsSubstring("...'"));
}

TEST_CASE("a header with random damage is read or refused, never worse", "[hub]") {
  std::mt19937 random(7);
  const auto valid = R"({"__metadata__":{"format":"pt"},"a":)" + entry("F32", "[2,3]", "[0,24]") + R"(,"b":)" +
                     entry("BF16", "[4]", "[24,32]") + R"(,"c":)" + entry("U8", "[]", "[32,33]") + "}   ";
  REQUIRE_NOTHROW(parse_header(valid, 33, "file"));
  int refused = 0;
  constexpr std::string_view alphabet = "{}[],:\"\\0123456789-+eE. \n";
  for (int trial = 0; trial < 20'000; ++trial) {
    auto damaged = valid;
    for (auto edits = 1 + random() % 4; edits > 0; --edits) {
      const auto at = random() % damaged.size();
      const auto byte = random() % 2 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          damaged[at] = byte;
          break;
        case 1:
          damaged.insert(at, 1, byte);
          break;
        default:
          damaged.erase(at, 1 + random() % 3);
      }
      if (damaged.empty()) damaged.push_back(byte);
    }
    const auto error = error_of([&] { parse_header(damaged, 33, "file"); });
    if (!error.empty()) {
      ++refused;
      if (!error.starts_with("file: ")) FAIL(error);
    }
  }
  REQUIRE(refused > 15'000);
}

}  // namespace blockzoo::test
