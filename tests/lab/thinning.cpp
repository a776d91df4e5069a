#include "lab/thinning.h"

#include <algorithm>
#include <cmath>

#include "support/catch.h"

namespace blockzoo {
namespace {

bool holds(const std::vector<size_t>& kept, size_t index) {
  return std::find(kept.begin(), kept.end(), index) != kept.end();
}

}  // namespace

TEST_CASE("Few points all stay, and no points are none", "[lab][thinning][torch]") {
  const std::vector<double> series{1, std::nan(""), 3};
  CHECK(kept_points(3, {envelope_of({&series})}, 3) == std::vector<size_t>{0, 1, 2});
  CHECK(kept_points(0, {}, 3).empty());
}

TEST_CASE("Thinning keeps both ends and every spike of every series", "[lab][thinning][torch]") {
  std::vector<double> first(10'000), second(10'000);
  for (size_t i = 0; i < first.size(); ++i) first[i] = second[i] = 3 + std::sin(static_cast<double>(i));
  first[1234] = 50;
  second[7777] = -50;
  second[40] = std::nan("");
  const auto kept = kept_points(first.size(), {envelope_of({&first, &second})}, 500);
  CHECK(kept.size() <= 502);
  CHECK(kept.size() > 400);
  CHECK(std::is_sorted(kept.begin(), kept.end()));
  CHECK(kept.front() == 0);
  CHECK(kept.back() == 9999);
  CHECK((holds(kept, 1234) && holds(kept, 7777)));
}

TEST_CASE("Where nothing is known only the ends stay", "[lab][thinning][torch]") {
  const std::vector<double> unknown(1000, std::nan(""));
  CHECK(kept_points(1000, {envelope_of({&unknown})}, 100) == std::vector<size_t>{0, 999});
}

}  // namespace blockzoo
