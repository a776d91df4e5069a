#include "blockzoo/core/hash.h"

#include <set>

#include "support/catch.h"

namespace blockzoo {

TEST_CASE("hashes are the published functions, on every machine", "[core]") {
  CHECK(hash_bytes("") == 0xcbf29ce484222325ULL);  // FNV-1a's own test vectors
  CHECK(hash_bytes("a") == 0xaf63dc4c8601ec8cULL);
  CHECK(hash_bytes("foobar") == 0x85944171f73967e8ULL);
  CHECK(hash_bytes("bar", hash_bytes("foo")) == hash_bytes("foobar"));
  CHECK(mix(1234567) == 6457827717110365317ULL);  // SplitMix64's first numbers from seed 1234567
  CHECK(mix(1234567 + 0x9e3779b97f4a7c15ULL) == 3203168211198807973ULL);
  CHECK(hex(0) == "0000000000000000");
  CHECK(hex(0xdeadbeefULL) == "00000000deadbeef");
}

TEST_CASE("seeds differ by seed, by purpose and by index", "[core]") {
  std::set<uint64_t> seeds;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (const auto* purpose : {"", "a", "b", "dropout"}) {
      for (uint64_t index = 0; index < 10; ++index) seeds.insert(seed_for(seed, purpose, index));
    }
  }
  CHECK(seeds.size() == 400);
}

}  // namespace blockzoo
