#include "blockzoo/data/batches.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "blockzoo/data/corpus.h"
#include "support/catch.h"

namespace blockzoo {

namespace {

/// Token i is first + i * stride: by default i, so that a window shows where it was read.
class Numbers final : public TokenSource {
 public:
  Numbers(int64_t size, int64_t first, int64_t stride) : size_(size), first_(first), stride_(stride) {}
  std::string name() const override { return "training data (numbers)"; }
  int64_t size() const override { return size_; }
  void read(int64_t first, std::span<int64_t> out) const override {
    for (auto& token : out) token = first_ + stride_ * first++;
  }

 private:
  int64_t size_, first_, stride_;
};

std::shared_ptr<const TokenSource> numbers(int64_t size, int64_t first = 0, int64_t stride = 1) {
  return std::make_shared<Numbers>(size, first, stride);
}

}  // namespace

TEST_CASE("targets are the inputs one token further", "[data][torch]") {
  const Batches batches(numbers(1000), {.windows = 4, .context = 16}, 0);
  const auto batch = batches.batch(3);
  CHECK(batch.inputs.sizes() == at::IntArrayRef({4, 16}));
  CHECK(batch.targets.sizes() == at::IntArrayRef({4, 16}));
  CHECK(batch.inputs.scalar_type() == at::kLong);
  CHECK(batch.inputs.is_contiguous());
  CHECK(batch.targets.is_contiguous());
  CHECK(at::equal(batch.inputs + 1, batch.targets));
  CHECK(at::equal(batch.inputs.slice(1, 1), batch.targets.slice(1, 0, 15)));
}

TEST_CASE("a batch depends on the seed and the step and on nothing before", "[data][torch]") {
  const Batches one(numbers(5000), {.windows = 8, .context = 16}, 7);
  const Batches two(numbers(5000), {.windows = 8, .context = 16}, 7);
  const Batches other(numbers(5000), {.windows = 8, .context = 16}, 8);
  uint64_t straight = 0;
  for (int64_t step = 0; step < 200; ++step) straight += one.batch(step).hash;  // five epochs
  uint64_t resumed = 0;
  for (int64_t step = 117; step < 200; ++step) resumed += two.batch(step).hash;
  for (int64_t step = 0; step < 117; ++step) resumed += two.batch(step).hash;
  CHECK(straight == resumed);
  CHECK(at::equal(one.batch(150).inputs, two.batch(150).inputs));
  CHECK_FALSE(at::equal(one.batch(150).inputs, other.batch(150).inputs));
  CHECK(one.batch(0).hash != other.batch(0).hash);
  CHECK(one.batch(0).hash != one.batch(1).hash);
}

TEST_CASE("slices of a batch make up the batch, tokens and hash", "[data][torch]") {
  const Batches batches(numbers(5000), {.windows = 12, .context = 8}, 1);
  const auto whole = batches.batch(5);
  for (const int64_t parts : {1, 2, 3, 4, 6, 12}) {
    std::vector<at::Tensor> inputs, targets;
    uint64_t hash = 0;
    for (int64_t part = 0; part < parts; ++part) {
      const auto slice = batches.slice(5, part * 12 / parts, 12 / parts);
      inputs.push_back(slice.inputs);
      targets.push_back(slice.targets);
      hash += slice.hash;
    }
    CHECK(at::equal(at::cat(inputs), whole.inputs));
    CHECK(at::equal(at::cat(targets), whole.targets));
    CHECK(hash == whole.hash);
  }
}

TEST_CASE("the run's tokens do not depend on how it is cut into batches", "[data][torch]") {
  const Batches wide(numbers(3000), {.windows = 12, .context = 8}, 1);
  const Batches narrow(numbers(3000), {.windows = 4, .context = 8}, 1);
  uint64_t a = 0, b = 0;
  for (int64_t step = 0; step < 10; ++step) a += wide.batch(step).hash;
  for (int64_t step = 0; step < 30; ++step) b += narrow.batch(step).hash;
  CHECK(a == b);
}

TEST_CASE("the hash sees the order as well as the text", "[data][torch]") {
  const BatchShape shape{.windows = 2, .context = 8};
  const Batches same(numbers(1000, 0, 0), shape, 1);  // every window reads alike
  CHECK(same.slice(0, 0, 1).hash != same.slice(0, 1, 1).hash);
  CHECK(same.batch(0).hash != same.batch(1).hash);
  CHECK(same.batch(0).hash == Batches(numbers(1000, 0, 0), shape, 2).batch(0).hash);
  CHECK(same.batch(0).hash != Batches(numbers(1000, 1, 0), shape, 1).batch(0).hash);
}

TEST_CASE("a resumed run sees every window of the epoch once", "[data][torch]") {
  // 64 windows, stopped in the first epoch and again in the second.
  const auto starts = [](const Batches& batches, int64_t from, int64_t to) {
    std::vector<int64_t> all;
    for (int64_t step = from; step < to; ++step) {
      const auto column = batches.batch(step).inputs.select(1, 0).contiguous();
      all.insert(all.end(), column.data_ptr<int64_t>(), column.data_ptr<int64_t>() + column.numel());
    }
    return all;
  };
  const BatchShape shape{.windows = 3, .context = 4};
  const Batches whole(numbers(257), shape, 0), a(numbers(257), shape, 0), b(numbers(257), shape, 0),
      c(numbers(257), shape, 0);
  CHECK(whole.windows_per_epoch() == 64);
  auto resumed = starts(a, 0, 20);
  for (const auto start : starts(b, 20, 30)) resumed.push_back(start);
  for (const auto start : starts(c, 30, 64)) resumed.push_back(start);
  CHECK(resumed == starts(whole, 0, 64));
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto seen = std::vector(resumed.begin() + epoch * 64, resumed.begin() + (epoch + 1) * 64);
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  }
}

TEST_CASE("a batch may be larger than an epoch", "[data][torch]") {
  const Batches batches(numbers(33), {.windows = 5, .context = 32}, 0);
  CHECK(batches.windows_per_epoch() == 1);
  const auto batch = batches.batch(0);
  for (int64_t i = 0; i < 5; ++i) CHECK(at::equal(batch.inputs[i], at::arange(32, at::kLong)));
  CHECK(batch.targets[0][31].item<int64_t>() == 32);
}

TEST_CASE("data shorter than one window is refused with both numbers", "[data][torch][error]") {
  using Catch::Matchers::ContainsSubstring;
  for (const int64_t size : {0, 1, 32}) {
    INFO(size);
    const auto expected =
        "training data (numbers) has " + std::to_string(size) + " tokens; one window of context 32 needs 33";
    CHECK_THROWS_WITH(Batches(numbers(size), {.windows = 1, .context = 32}, 0), ContainsSubstring(expected));
    CHECK_THROWS_WITH(ValidationWindows(numbers(size), 32, 4), ContainsSubstring(expected));
  }
  for (const int64_t size : {33, 34}) {
    CHECK(Batches(numbers(size), {.windows = 1, .context = 32}, 0).batch(0).inputs.size(0) == 1);
    CHECK(ValidationWindows(numbers(size), 32, 4).size() == 1);
  }
}

TEST_CASE("shapes and ranges that make no sense are refused", "[data][torch][error]") {
  CHECK_THROWS_AS(Batches(numbers(100), {.windows = 0, .context = 8}, 0), std::invalid_argument);
  CHECK_THROWS_AS(Batches(numbers(100), {.windows = 2, .context = 0}, 0), std::invalid_argument);
  const Batches batches(numbers(100), {.windows = 4, .context = 8}, 0);
  CHECK_THROWS_AS(batches.slice(0, 2, 3), std::out_of_range);
  CHECK_THROWS_AS(batches.slice(0, 0, 0), std::out_of_range);
  CHECK_THROWS_AS(batches.batch(-1), std::out_of_range);
  CHECK_THROWS_AS(ValidationWindows(numbers(100), 8, 4).read(4, 1), std::out_of_range);
}

TEST_CASE("validation windows are the same however they are read", "[data][torch]") {
  const ValidationWindows windows(numbers(1000), 16, 10);
  REQUIRE(windows.size() == 10);
  const auto all = windows.read(0, 10);
  CHECK(at::equal(all.inputs + 1, all.targets));
  CHECK(all.inputs[0][0].item<int64_t>() == 0);
  CHECK(all.targets[9][15].item<int64_t>() == 999);
  CHECK_FALSE(all.marked.defined());
  CHECK(at::equal(at::cat({windows.read(0, 4).targets, windows.read(4, 4).targets, windows.read(8, 4).targets}),
                  all.targets));
  CHECK(windows.read(8, 4).inputs.size(0) == 2);
  CHECK(windows.hash() == ValidationWindows(numbers(1000), 16, 10).hash());
  CHECK(windows.hash() != ValidationWindows(numbers(1000), 16, 9).hash());
}

TEST_CASE("a marked target was mentioned whole in the same window", "[data][torch]") {
  const auto corpus = open_corpus(StoriesConfig{.train_stories = 1, .validation_stories = 64});
  const ValidationWindows windows(corpus.validation, 96, 0);
  const auto batch = windows.read(0, windows.size());
  REQUIRE(batch.marked.defined());
  CHECK(batch.marked.scalar_type() == at::kBool);
  CHECK(batch.marked.sizes() == batch.targets.sizes());
  const double share = batch.marked.to(at::kDouble).mean().item<double>();
  CHECK(share > 0.02);
  CHECK(share < 0.09);

  std::vector<int64_t> lookback(static_cast<size_t>(corpus.validation->size()));
  corpus.validation->read_lookback(0, lookback);
  const auto starts = even_windows(corpus.validation->size(), 96, 0);
  int64_t copied = 0, wrong = 0, missed = 0;
  for (int64_t w = 0; w < windows.size(); ++w) {
    for (int64_t t = 0; t < 96; ++t) {
      const int64_t position = starts[static_cast<size_t>(w)] + 1 + t;
      const int64_t back = lookback[static_cast<size_t>(position)];
      const bool marked = batch.marked[w][t].item<bool>();
      const bool inside = back > 0 && position - back >= starts[static_cast<size_t>(w)];
      wrong += marked && !inside;
      missed += inside && !marked;
      copied += marked;
    }
  }
  CHECK(wrong == 0);
  CHECK(missed == 0);
  CHECK(copied > 500);
}

}  // namespace blockzoo
