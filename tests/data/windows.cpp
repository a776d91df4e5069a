#include "blockzoo/data/windows.h"

#include <algorithm>
#include <set>
#include <vector>

#include "support/catch.h"

namespace blockzoo {

TEST_CASE("context + 1 tokens are exactly one window", "[data]") {
  const WindowOrder order(33, 32, 0);
  CHECK(order.windows_per_epoch() == 1);
  for (int64_t position = 0; position < 50; ++position) CHECK(order.start(position) == 0);
  CHECK(even_windows(33, 32, 0) == std::vector<int64_t>{0});
  CHECK(even_windows(33, 32, 10) == std::vector<int64_t>{0});
}

TEST_CASE("every token but the first is some window's target", "[data]") {
  for (const int64_t tokens : {33, 34, 63, 64, 65, 66, 97, 200}) {
    const WindowOrder order(tokens, 32, 3);
    std::set<int64_t> targets;
    for (int64_t position = 0; position < 2000; ++position) {
      const int64_t start = order.start(position);
      REQUIRE(start >= 0);
      REQUIRE(start + 32 < tokens);
      for (int64_t t = 1; t <= 32; ++t) targets.insert(start + t);
    }
    INFO("tokens " << tokens);
    CHECK(static_cast<int64_t>(targets.size()) == tokens - 1);
    CHECK(*targets.rbegin() == tokens - 1);
  }
}

TEST_CASE("an epoch visits each of its windows once", "[data]") {
  const WindowOrder order(10007, 10, 1);
  const int64_t windows = order.windows_per_epoch();
  CHECK(windows == 1000);
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    std::set<int64_t> starts;
    for (int64_t i = 0; i < windows; ++i) starts.insert(order.start(epoch * windows + i));
    CHECK(static_cast<int64_t>(starts.size()) == windows);
    // All but the last, which may be pulled back, stand one context apart.
    const std::vector<int64_t> sorted(starts.begin(), starts.end());
    for (size_t i = 1; i + 1 < sorted.size(); ++i) REQUIRE(sorted[i] - sorted[i - 1] == 10);
    CHECK(sorted.front() < 10);
  }
}

TEST_CASE("epochs differ in their order and in where they cut", "[data]") {
  const WindowOrder order(32001, 32, 0);
  const int64_t windows = order.windows_per_epoch();
  std::set<int64_t> phases;
  int same = 0;
  for (int64_t epoch = 0; epoch < 20; ++epoch) phases.insert(order.start(epoch * windows) % 32);
  for (int64_t i = 0; i < windows; ++i) same += order.start(i) / 32 == order.start(windows + i) / 32;
  CHECK(phases.size() > 8);
  CHECK(same < 12);
}

TEST_CASE("the order depends on the seed and is the same on every machine", "[data]") {
  const auto first = [](uint64_t seed) {
    const WindowOrder order(1'000'000, 128, seed);
    std::vector<int64_t> starts;
    for (int64_t i = 0; i < 5; ++i) starts.push_back(order.start(i));
    return starts;
  };
  CHECK(first(0) != first(1));
  CHECK(first(0) == std::vector<int64_t>{51049, 598633, 53865, 84457, 850281});
}

TEST_CASE("positions beyond 32 bits have windows too", "[data]") {
  const WindowOrder order(4'000'000'000'000, 1024, 5);
  const int64_t start = order.start(3'000'000'000'000);
  CHECK(start >= 0);
  CHECK(start + 1024 < 4'000'000'000'000);
}

TEST_CASE("validation windows are spread from the first token to the last and share no target", "[data]") {
  for (const int64_t tokens : {65, 66, 100, 1000, 100'000}) {
    for (const int64_t count : {0, 2, 3, 7, 31, 100'000}) {
      const auto starts = even_windows(tokens, 32, count);
      const int64_t fitting = (tokens - 1) / 32;
      INFO("tokens " << tokens << ", count " << count);
      CHECK(static_cast<int64_t>(starts.size()) == (count == 0 ? fitting : std::min(count, fitting)));
      CHECK(starts.front() == 0);
      if (starts.size() > 1) CHECK(starts.back() + 32 == tokens - 1);
      for (size_t i = 1; i < starts.size(); ++i) REQUIRE(starts[i] - starts[i - 1] >= 32);
    }
  }
}

}  // namespace blockzoo
