#include "blockzoo/data/overlap.h"

#include <numeric>

#include "support/catch.h"

namespace blockzoo {
namespace {

class Listed final : public TokenSource {
 public:
  explicit Listed(std::vector<int64_t> tokens) : tokens_(std::move(tokens)) {}
  std::string name() const override { return "listed"; }
  int64_t size() const override { return static_cast<int64_t>(tokens_.size()); }
  void read(int64_t first, std::span<int64_t> out) const override {
    std::copy_n(tokens_.begin() + first, out.size(), out.begin());
  }

 private:
  std::vector<int64_t> tokens_;
};

/// 0, 1, ... with a period that no window is as long as.
std::vector<int64_t> counted(int64_t size, int64_t from) {
  std::vector<int64_t> tokens(static_cast<size_t>(size));
  std::iota(tokens.begin(), tokens.end(), from);
  return tokens;
}

int64_t found(const std::vector<int64_t>& train, const std::vector<int64_t>& validation, int64_t context) {
  return windows_in_training_data(Listed(train), ValidationWindows(std::make_shared<Listed>(validation), context, 0));
}

}  // namespace

TEST_CASE("Validation windows that stand in the training data are counted, wherever they stand", "[data][overlap]") {
  const auto validation = counted(9, 1000);  // two windows of 4 tokens and the one that follows
  CHECK(found(counted(100, 0), validation, 4) == 0);
  for (const int64_t before : {0, 1, 50, (1 << 18) - 3, (1 << 18) - 9, 1 << 18}) {
    INFO(before << " tokens before");
    auto train = counted(before, 5'000'000);
    train.insert(train.end(), validation.begin(), validation.end());
    CHECK(found(train, validation, 4) == 2);
    train.push_back(7);
    CHECK(found(train, validation, 4) == 2);
    train[static_cast<size_t>(before)] = 3;  // the first token of the first window
    CHECK(found(train, validation, 4) == 1);
  }
}

TEST_CASE("A window that repeats is counted as often as it is validated on, and once however often trained on",
          "[data][overlap]") {
  const std::vector<int64_t> ones(13, 1);
  CHECK(found(ones, ones, 4) == 3);
  CHECK(found(std::vector<int64_t>(4, 1), ones, 4) == 0);  // shorter than a window
  CHECK(found(std::vector<int64_t>(5, 1), ones, 4) == 3);
}

}  // namespace blockzoo
