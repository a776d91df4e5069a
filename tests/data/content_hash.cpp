#include "data/content_hash.h"

#include <set>
#include <string>

#include "support/catch.h"

namespace blockzoo {

namespace {

uint64_t hash_of(std::string_view text, size_t cut) {
  ContentHash hash;
  for (; text.size() > cut; text.remove_prefix(cut)) hash.update(std::as_bytes(std::span(text.substr(0, cut))));
  hash.update(std::as_bytes(std::span(text)));
  return hash.digest();
}

}  // namespace

TEST_CASE("a content hash does not depend on how the bytes are cut", "[data]") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * i % 251);
  const auto whole = hash_of(text, text.size());
  for (size_t cut = 1; cut < 100; ++cut) CHECK(hash_of(text, cut) == whole);
  CHECK(whole == 0x9a720b007a1b7129);
}

TEST_CASE("a content hash sees every bit, the order and the length", "[data]") {
  std::set<uint64_t> seen;
  std::string text(100, 'a');
  seen.insert(hash_of(text, 1000));
  for (size_t byte = 0; byte < text.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = text;
      changed[byte] = static_cast<char>(changed[byte] ^ (1 << bit));
      seen.insert(hash_of(changed, 1000));
    }
  }
  CHECK(seen.size() == 801);
  CHECK(hash_of("ab", 9) != hash_of("ba", 9));
  for (const size_t size : {0, 1, 31, 32, 33, 64}) {
    const auto zeros = std::string(size, '\0');
    CHECK(hash_of(zeros, 1000) != hash_of(zeros + '\0', 1000));
  }
  // Words 32 bytes apart share a lane.
  auto swapped = std::string(64, 'x');
  swapped[0] = 'a';
  auto other = std::string(64, 'x');
  other[32] = 'a';
  CHECK(hash_of(swapped, 1000) != hash_of(other, 1000));
}

}  // namespace blockzoo
