#include "blockzoo/data/stories.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

#include "blockzoo/core/hash.h"
#include "data/content_hash.h"
#include "data/story_information.h"
#include "data/story_words.h"

namespace blockzoo {

namespace {

constexpr uint64_t kHeldOutPairs = 16;  // one pair of names in so many belongs to validation

/// SplitMix64, with whole numbers below a limit. The standard library's distributions differ between vendors.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}

  size_t below(size_t limit) {
    nats_ += std::log(static_cast<double>(limit));
    return static_cast<size_t>((bits() >> 32) * limit >> 32);
  }

  std::string_view from(std::span<const std::string_view> words) { return words[below(words.size())]; }

  /// -log of the probability of the draws so far.
  double nats() const { return nats_; }
  /// What was drawn so far was drawn again until it met a condition, which so much of it does.
  void met_with_probability(double probability) { nats_ += std::log(probability); }
  void forget_nats() { nats_ = 0; }

 private:
  uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }

  uint64_t state_;
  double nats_ = 0;
};

std::string draw_name(Draw& draw) {
  std::string name;
  name += draw.from(story::starts);
  name += draw.from(story::vowels);
  name += draw.from(story::middles);
  name += draw.from(story::vowels);
  name += draw.from(story::tails);
  return name;
}

/// Share of the pairs of names that do not begin with the same letter.
double share_of_different_letters() {
  int64_t pairs = 0;
  for (const auto a : story::starts)
    pairs += std::count_if(story::starts.begin(), story::starts.end(), [&](auto b) { return a.front() != b.front(); });
  return static_cast<double>(pairs) / static_cast<double>(story::starts.size() * story::starts.size());
}

bool held_out(uint64_t seed, const std::string& a, const std::string& b) {
  const auto pair = mix(hash_bytes(std::min(a, b))) + hash_bytes(std::max(a, b));
  return mix(seed_for(seed, "held-out pairs") ^ pair) % kHeldOutPairs == 0;
}

/// Fills templates; remembers where names stand.
class Teller {
 public:
  Teller(uint64_t seed, StoryPart part, int64_t index)
      : draw_(seed_for(seed, part == StoryPart::kTrain ? "training story" : "validation story",
                       static_cast<uint64_t>(index))) {
    do {
      draw_.forget_nats();
      names_ = {draw_name(draw_), draw_name(draw_)};
    } while (names_[0][0] == names_[1][0] || held_out(seed, names_[0], names_[1]) != (part == StoryPart::kValidation));
    draw_.met_with_probability(share_of_different_letters());
    trades_ = {draw_.from(story::trades), draw_.from(story::trades)};
    thing_ = draw_.from(story::qualities);
    thing_.append(" ").append(draw_.from(story::things));
    home_ = draw_.from(story::places);
    pet_ = draw_.from(story::animals);
  }

  Story tell() {
    sentence(draw_.from(story::openings));
    sentence(draw_.from(story::meetings));
    const auto count =
        static_cast<size_t>(story::fewest_middles) + draw_.below(story::most_middles - story::fewest_middles + 1);
    auto order = story::middles_of_story;
    for (size_t i = 0; i < count; ++i) {
      std::swap(order[i], order[i + draw_.below(order.size() - i)]);
      sentence(order[i]);
    }
    sentence(draw_.from(story::endings));
    story_.text.back() = '\n';
    story_.nats = draw_.nats();
    return std::move(story_);
  }

 private:
  void sentence(std::string_view pattern) {
    if (pattern.find("{X}") != pattern.npos) first_ = draw_.below(2);
    while (!pattern.empty()) {
      const auto open = pattern.find('{');
      story_.text += pattern.substr(0, open);
      if (open == pattern.npos) break;
      const auto close = pattern.find('}', open);
      slot(pattern.substr(open + 1, close - open - 1));
      pattern.remove_prefix(close + 1);
    }
    story_.text += ' ';
  }

  void name(size_t which) {
    story_.names[which].push_back(
        {static_cast<int64_t>(story_.text.size()), static_cast<int64_t>(names_[which].size())});
    story_.text += names_[which];
  }

  void slot(std::string_view key) {
    if (key == "A") return name(0);
    if (key == "B") return name(1);
    if (key == "X") return name(first_);
    if (key == "Y") return name(1 - first_);
    story_.text += word(key);
  }

  std::string_view word(std::string_view key) {
    if (key == "trade_a") return trades_[0];
    if (key == "trade_b") return trades_[1];
    if (key == "thing") return thing_;
    if (key == "home") return home_;
    if (key == "pet") return pet_;
    return draw_.from(story::words_for(key));
  }

  Draw draw_;
  std::array<std::string, 2> names_;
  std::array<std::string_view, 2> trades_;
  std::string thing_;
  std::string_view home_;
  std::string_view pet_;
  size_t first_ = 0;
  Story story_;
};

class StorySource final : public TokenSource {
 public:
  StorySource(const StoriesConfig& config, StoryPart part, int64_t stories) : part_(part) {
    for (int64_t index = 0; index < stories; ++index) {
      const auto story = make_story(config, part, index);
      starts_.push_back(size());
      text_ += story.text;
      if (part == StoryPart::kValidation) mark(story);
    }
  }

  std::string name() const override {
    return part_ == StoryPart::kTrain ? "training data (generated stories)" : "validation data (generated stories)";
  }
  int64_t size() const override { return static_cast<int64_t>(text_.size()); }

  void read(int64_t first, std::span<int64_t> out) const override {
    check(first, out.size());
    std::transform(text_.begin() + first, text_.begin() + first + static_cast<int64_t>(out.size()), out.begin(),
                   [](char byte) { return static_cast<unsigned char>(byte); });
  }

  bool has_lookback() const override { return part_ == StoryPart::kValidation; }

  void read_lookback(int64_t first, std::span<int64_t> out) const override {
    check(first, out.size());
    if (!has_lookback()) return TokenSource::read_lookback(first, out);
    std::copy_n(lookback_.begin() + first, out.size(), out.begin());
  }

  std::optional<double> information(std::span<const int64_t> firsts, int64_t count) const override {
    double sum = 0;
    size_t known = starts_.size();
    std::vector<double> nats;
    for (const int64_t first : firsts) {
      check(first, static_cast<size_t>(count));
      for (int64_t byte = first; byte < first + count;) {
        const auto next = std::upper_bound(starts_.begin(), starts_.end(), byte);
        const auto story = static_cast<size_t>(next - starts_.begin()) - 1;
        const int64_t start = starts_[story], end = next == starts_.end() ? size() : *next;
        if (story != known) nats = information_of(std::string_view(text_).substr(start, end - start));
        known = story;
        const int64_t last = std::min(first + count, end);
        sum = std::accumulate(nats.begin() + (byte - start), nats.begin() + (last - start), sum);
        byte = last;
      }
    }
    return sum;
  }

  uint64_t hash() const {
    ContentHash hash;
    hash.update(std::as_bytes(std::span(text_)));
    return hash.digest();
  }

 private:
  void check(int64_t first, size_t count) const {
    if (first < 0 || first + static_cast<int64_t>(count) > size())
      throw std::out_of_range(name() + " has " + std::to_string(size()) + " bytes");
  }

  /// Called after the story's text was added.
  void mark(const Story& story) {
    const auto start = static_cast<int64_t>(lookback_.size());
    lookback_.resize(text_.size(), 0);
    for (const auto& mentions : story.names) {
      for (size_t i = 1; i < mentions.size(); ++i) {
        for (int64_t byte = mentions[i].first; byte < mentions[i].first + mentions[i].size; ++byte)
          lookback_[static_cast<size_t>(start + byte)] = static_cast<uint16_t>(byte - mentions[i - 1].first);
      }
    }
  }

  StoryPart part_;
  std::string text_;
  std::vector<int64_t> starts_;  // of the stories
  std::vector<uint16_t> lookback_;
};

}  // namespace

Story make_story(const StoriesConfig& config, StoryPart part, int64_t index) {
  return Teller(static_cast<uint64_t>(config.seed), part, index).tell();
}

Corpus open_corpus(const StoriesConfig& config) {
  const auto train = std::make_shared<StorySource>(config, StoryPart::kTrain, config.train_stories);
  const auto validation = std::make_shared<StorySource>(config, StoryPart::kValidation, config.validation_stories);
  Corpus corpus;
  corpus.vocabulary = config.vocabulary_size();
  corpus.bytes_per_token = 1;
  corpus.hash = mix(train->hash() ^ mix(validation->hash()));
  corpus.train = train;
  corpus.validation = validation;
  return corpus;
}

}  // namespace blockzoo
