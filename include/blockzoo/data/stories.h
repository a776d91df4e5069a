#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blockzoo/core/fields.h"
#include "blockzoo/data/token_source.h"

namespace blockzoo {

/// Generated short stories (about 800 bytes, one a line) in which two invented names recur. A name is put together at
/// random from 72,000, so the first mention is a surprise and each later one can only be copied from tens of bytes
/// before: the loss there shows what attention does. The two names of a story never share their first letter, and one
/// pair of names in sixteen is kept for validation, so no story is in both parts; both draw from the same names.
/// The text depends on the seed and the story's index only, and is the same on every machine. The choices in
/// it hold 0.134 nats per byte on average, which is the least loss that a model can expect; TokenSource::information
/// has that of any place, byte by byte, by summing over every way in which a story could have come to it.
struct StoriesConfig {
  static constexpr std::string_view kind = "stories";
  static constexpr std::string_view summary = "generated stories with recurring invented names; no download";
  static constexpr std::string_view source = "this project, after TinyStories (Eldan and Li 2023, arXiv:2305.07759)";

  int64_t seed = 0;
  int64_t train_stories = 16384;
  int64_t validation_stories = 512;

  int64_t vocabulary_size() const { return 256; }

  static constexpr Bound story_count{.low = 1, .high = 1'000'000, .allowed = "from 1 to 1000000"};

  static void fields(auto& self, auto& visit) {
    visit("seed", self.seed, not_negative, "which stories; the order of the batches has its own seed");
    visit("train_stories", self.train_stories, story_count, "stories to train on, about 800 bytes each");
    visit("validation_stories", self.validation_stories, story_count, "stories kept for validation");
  }
};

/// Bytes first to first + size - 1 of a story.
struct Mention {
  int64_t first = 0;
  int64_t size = 0;
};

struct Story {
  std::string text;                           // ends with a line feed
  std::array<std::vector<Mention>, 2> names;  // where each of the two names stands, in order
  double nats = 0;                            // -log of the probability of the choices that made it
};

enum class StoryPart { kTrain, kValidation };

/// Story `index` of a part. Any index: the counts of the config do not matter here.
Story make_story(const StoriesConfig& config, StoryPart part, int64_t index);

/// Each part is its stories in order. Validation marks every mention of a name after the story's first.
Corpus open_corpus(const StoriesConfig& config);

}  // namespace blockzoo
