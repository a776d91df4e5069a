#include "data/story_information.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "data/story_words.h"

namespace blockzoo {
namespace {

/// One way of telling that agrees with all bytes so far. A choice is made only once the text depends on it.
struct Telling {
  double probability = 1;
  std::string ahead;                                     // what comes next, slots included
  std::map<std::string, std::string, std::less<>> kept;  // what a slot stands for through the story
  std::array<bool, story::middles_of_story.size()> told{};
  int64_t sentences = 0;
  bool ended = false;
};

bool differ_in_letter(std::string_view start, std::string_view name) { return start.front() != name.front(); }

/// Starts that begin with another letter.
int64_t other_starts(std::string_view name) {
  return std::count_if(story::starts.begin(), story::starts.end(),
                       [&](std::string_view start) { return differ_in_letter(start, name); });
}

/// Odds of a start of the first name, which has a second one in as many ways as there are starts of other letters.
double odds_of_first_start(std::string_view start) {
  int64_t pairs = 0;
  for (const auto one : story::starts) pairs += other_starts(one);
  return static_cast<double>(other_starts(start)) / static_cast<double>(pairs);
}

double odds_of_second_start(std::string_view start, std::string_view first_name) {
  return differ_in_letter(start, first_name) ? 1 / static_cast<double>(other_starts(first_name)) : 0;
}

/// All ways of telling a story at once, cut down byte by byte to those that agree with it.
class Tellings {
 public:
  Tellings() : agreeing_(1) {}

  /// The probability of that byte after those before it.
  double read(char byte) {
    byte_ = byte;
    auto before = std::exchange(agreeing_, {});
    for (auto& telling : before) follow(std::move(telling));
    double probability = 0;
    for (const auto& telling : agreeing_) probability += telling.probability;
    for (auto& telling : agreeing_) telling.probability /= probability;
    return probability;
  }

 private:
  /// Keeps every way to go on with the byte.
  void follow(Telling telling) {
    if (telling.probability == 0) return;
    if (telling.ahead.empty()) return next_sentence(telling);
    if (telling.ahead.front() == '{') return fill_slot(std::move(telling));
    if (telling.ahead.front() != byte_) return;
    telling.ahead.erase(0, 1);
    agreeing_.push_back(std::move(telling));
  }

  void next_sentence(const Telling& telling) {
    if (telling.ended) return;
    if (telling.sentences == 0) return one_of(story::openings, telling);
    if (telling.sentences == 1) return one_of(story::meetings, telling);
    const auto middles = telling.sentences - 2;
    const auto lengths = story::most_middles - std::max(middles, story::fewest_middles) + 1;
    const double end = middles < story::fewest_middles ? 0 : 1 / static_cast<double>(lengths);
    for (size_t i = 0; i < telling.told.size(); ++i) {
      if (telling.told[i]) continue;
      auto next = telling;
      next.told[i] = true;
      say(story::middles_of_story[i], ' ', (1 - end) / static_cast<double>(telling.told.size() - middles), next);
    }
    auto last = telling;
    last.ended = true;
    for (const auto sentence : story::endings)
      say(sentence, '\n', end / static_cast<double>(story::endings.size()), last);
  }

  template <size_t N>
  void one_of(const std::array<std::string_view, N>& sentences, const Telling& telling) {
    for (const auto sentence : sentences) say(sentence, ' ', 1 / static_cast<double>(N), telling);
  }

  /// {X} and {Y} are the two names, one way or the other.
  void say(std::string_view sentence, char after, double odds, Telling telling) {
    ++telling.sentences;
    telling.probability *= odds;
    telling.ahead.assign(sentence).push_back(after);
    if (sentence.find("{X}") == sentence.npos) return follow(std::move(telling));
    telling.probability /= 2;
    for (const bool swapped : {false, true}) {
      auto cast = telling;
      for (auto at = cast.ahead.find('{'); at != cast.ahead.npos; at = cast.ahead.find('{', at + 1)) {
        auto& key = cast.ahead[at + 1];
        if (key == 'X' || key == 'Y') key = (key == 'X') != swapped ? 'A' : 'B';
      }
      follow(std::move(cast));
    }
  }

  void fill_slot(Telling telling) {
    const auto close = telling.ahead.find('}');
    const auto key = telling.ahead.substr(1, close - 1);
    telling.ahead.erase(0, close + 1);
    const auto kept = telling.kept.find(key);
    if (kept != telling.kept.end()) {
      telling.ahead.insert(0, kept->second);
      follow(std::move(telling));
    } else if (key == "A" || key == "B") {
      start_name(key, telling);
    } else if (const auto plus = key.find('+'); plus != key.npos) {
      go_on_with_name(key.substr(0, plus), story::words_for(key.substr(plus + 1)), telling);
    } else if (key == "thing") {
      const auto qualities = story::words_for("quality"), things = story::words_for("thing");
      const double odds = 1 / static_cast<double>(qualities.size() * things.size());
      for (const auto quality : qualities) {
        for (const auto thing : things) put(key, std::string(quality).append(" ").append(thing), odds, telling);
      }
    } else {
      const auto words = story::words_for(key);
      for (const auto word : words) put(key, word, 1 / static_cast<double>(words.size()), telling);
    }
  }

  /// One word that a slot can stand for.
  void put(const std::string& key, std::string_view word, double odds, const Telling& telling) {
    if (word.front() != byte_) return;
    auto next = telling;
    next.probability *= odds;
    next.ahead.insert(0, word);
    if (story::is_kept(key)) next.kept[key] = word;
    follow(std::move(next));
  }

  void start_name(const std::string& key, const Telling& telling) {
    const auto vowel = "{" + key + "+vowel}", middle = "{" + key + "+middle}", tail = "{" + key + "+tail}";
    auto rest = telling;
    rest.ahead.insert(0, vowel + middle + vowel + tail);
    for (const auto start : story::starts) {
      const double odds =
          key == "A" ? odds_of_first_start(start) : odds_of_second_start(start, telling.kept.find("A")->second);
      put(key, start, odds, rest);
    }
  }

  void go_on_with_name(const std::string& key, std::span<const std::string_view> parts, const Telling& telling) {
    for (const auto part : parts) {
      auto next = telling;
      next.probability /= static_cast<double>(parts.size());
      next.ahead.insert(0, part);
      next.kept[key] += part;
      follow(std::move(next));
    }
  }

  char byte_ = 0;
  std::vector<Telling> agreeing_;
};

}  // namespace

std::vector<double> information_of(std::string_view story) {
  Tellings tellings;
  std::vector<double> nats;
  nats.reserve(story.size());
  for (const char byte : story) {
    const double probability = tellings.read(byte);
    if (probability == 0)
      throw std::invalid_argument("no story begins with '" + std::string(story.substr(0, nats.size() + 1)) + "'");
    nats.push_back(-std::log(probability));
  }
  return nats;
}

}  // namespace blockzoo
