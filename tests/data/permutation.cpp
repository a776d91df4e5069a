#include "blockzoo/data/permutation.h"

#include <cmath>

#include "support/catch.h"

namespace blockzoo {

TEST_CASE("a permutation of any size reaches every index once", "[data]") {
  std::vector<uint64_t> sizes{511, 512, 513, 4095, 4096, 4097, 65535, 65536, 65537, 100003};
  for (uint64_t size = 1; size <= 260; ++size) sizes.push_back(size);
  for (const uint64_t size : sizes) {
    const Permutation order(size, size * 7 + 1);
    std::vector<bool> seen(size, false);
    uint64_t reached = 0;
    for (uint64_t i = 0; i < size; ++i) {
      const uint64_t image = order(i);
      if (image < size && !seen[image]) ++reached;
      if (image < size) seen[image] = true;
    }
    INFO("size " << size);
    CHECK(reached == size);
  }
}

TEST_CASE("two keys give two orders, and one key the same order twice", "[data]") {
  const Permutation order(1000, 1), same(1000, 1), other(1000, 2);
  int equal = 0;
  int fixed = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    REQUIRE(order(i) == same(i));
    equal += order(i) == other(i);
    fixed += order(i) == i;
  }
  CHECK(equal < 10);  // 1 is expected of unrelated orders
  CHECK(fixed < 10);
}

TEST_CASE("small permutations come in every order, each about as often", "[data]") {
  std::map<std::vector<uint64_t>, int> counts;
  constexpr int kKeys = 24000;
  for (uint64_t key = 0; key < kKeys; ++key) {
    const Permutation order(4, key);
    ++counts[{order(0), order(1), order(2), order(3)}];
  }
  CHECK(counts.size() == 24);
  for (const auto& [order, count] : counts) CHECK(std::abs(count - kKeys / 24) < 190);  // 6 standard deviations
}

TEST_CASE("an index outside the permutation is refused", "[data][error]") {
  CHECK_THROWS_AS(Permutation(5, 0)(5), std::out_of_range);
  CHECK_THROWS_AS(Permutation(0, 0)(0), std::out_of_range);
}

}  // namespace blockzoo
