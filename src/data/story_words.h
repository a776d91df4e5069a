#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace blockzoo::story {

/// A name is start + vowel + middle + vowel + tail. Middles are one consonant, so a name spells in one way only.
inline constexpr std::array<std::string_view, 20> starts{"B",  "Br", "D", "Dr", "F", "G", "Gr", "H", "J", "K",
                                                         "Kl", "L",  "M", "N",  "P", "R", "S",  "T", "V", "Z"};
inline constexpr std::array<std::string_view, 5> vowels{"a", "e", "i", "o", "u"};
inline constexpr std::array<std::string_view, 12> middles{"b", "d", "g", "k", "l", "m", "n", "p", "r", "s", "t", "z"};
inline constexpr std::array<std::string_view, 12> tails{"",   "n",  "r",  "s",  "l",  "m",
                                                        "ko", "la", "mi", "ra", "ne", "to"};

// Every word after "a" begins with a consonant.
inline constexpr std::array<std::string_view, 16> trades{
    "baker",     "miller", "weaver",   "sailor", "farmer",     "shepherd", "blacksmith", "painter",
    "carpenter", "fisher", "gardener", "potter", "clockmaker", "tailor",   "doctor",     "fiddler"};
inline constexpr std::array<std::string_view, 16> tempers{
    "kind",  "clever", "lazy",     "patient", "curious", "brave",   "quiet", "cheerful",
    "proud", "shy",    "stubborn", "gentle",  "hungry",  "careful", "merry", "tired"};
inline constexpr std::array<std::string_view, 12> qualities{"silver", "golden", "wooden",  "broken", "heavy", "tiny",
                                                            "rusty",  "shiny",  "painted", "secret", "blue",  "green"};
inline constexpr std::array<std::string_view, 16> things{"key",     "comb",   "lantern", "bell",   "mirror", "basket",
                                                         "whistle", "hammer", "ring",    "kettle", "book",   "map",
                                                         "ladder",  "flute",  "spoon",   "box"};
inline constexpr std::array<std::string_view, 16> places{
    "mill",   "harbour", "forest", "market",  "river", "bridge",   "castle", "lighthouse",
    "meadow", "tower",   "garden", "village", "lake",  "mountain", "school", "windmill"};
inline constexpr std::array<std::string_view, 6> nearness{"near",         "behind",  "beside",
                                                          "not far from", "next to", "opposite"};
inline constexpr std::array<std::string_view, 12> hideouts{
    "under the stairs",     "behind the stove",          "in the tall grass",   "beneath a flat stone",
    "on the highest shelf", "at the bottom of the well", "in a pile of leaves", "between two barrels",
    "inside a hollow tree", "in the muddy ditch",        "by the garden gate",  "on the roof"};
inline constexpr std::array<std::string_view, 14> animals{"dog",    "cat",   "goat",   "horse", "crow",
                                                          "fox",    "mouse", "donkey", "goose", "hedgehog",
                                                          "rabbit", "cow",   "frog",   "pig"};
inline constexpr std::array<std::string_view, 12> foods{"bread",     "cheese",   "apples",  "honey cake",
                                                        "warm soup", "plums",    "nuts",    "pears",
                                                        "milk",      "porridge", "berries", "pancakes"};
inline constexpr std::array<std::string_view, 8> weathers{"cold",  "windy", "rainy", "sunny",
                                                          "foggy", "snowy", "warm",  "stormy"};
inline constexpr std::array<std::string_view, 6> times{"morning", "evening", "night", "day", "afternoon", "Sunday"};
inline constexpr std::array<std::string_view, 10> deeds{"walked", "ran",     "rode", "hurried",  "climbed",
                                                        "crept",  "marched", "went", "wandered", "hobbled"};
inline constexpr std::array<std::string_view, 10> pastimes{
    "slept",  "waited",        "sang a song",  "counted the clouds", "mended a shirt",
    "cooked", "read a letter", "fed the hens", "swept the floor",    "chopped wood"};

/// What a slot of a sentence is drawn from; also the parts of a name, and of a thing.
inline std::span<const std::string_view> words_for(std::string_view slot) {
  if (slot == "vowel") return vowels;
  if (slot == "middle") return middles;
  if (slot == "tail") return tails;
  if (slot == "trade_a" || slot == "trade_b") return trades;
  if (slot == "quality") return qualities;
  if (slot == "thing") return things;
  if (slot == "home" || slot == "place") return places;
  if (slot == "pet" || slot == "animal") return animals;
  if (slot == "temper") return tempers;
  if (slot == "near") return nearness;
  if (slot == "hideout") return hideouts;
  if (slot == "food") return foods;
  if (slot == "weather") return weathers;
  if (slot == "time") return times;
  if (slot == "deed") return deeds;
  if (slot == "pastime") return pastimes;
  throw std::logic_error("a story template has an unknown slot: " + std::string(slot));
}

/// Whether a slot keeps one value through a story, as the two names do; every other one is drawn each time.
inline bool is_kept(std::string_view slot) {
  return slot == "A" || slot == "B" || slot == "trade_a" || slot == "trade_b" || slot == "thing" || slot == "home" ||
         slot == "pet";
}

// A story is an opening, a meeting, different middles in any order, and an ending. {A} and {B} are its two names, {X}
// and {Y} the same two in an order drawn for each sentence.
inline constexpr int64_t fewest_middles = 5;
inline constexpr int64_t most_middles = 9;
inline constexpr std::array<std::string_view, 3> openings{
    "{A} was a {temper} {trade_a} who lived {near} the {home}.",
    "Once there was a {temper} {trade_a} {near} the {home}, and everybody knew that {trade_a} as {A}.",
    "In a little house {near} the {home} lived a {trade_a} with the name of {A}."};
inline constexpr std::array<std::string_view, 3> meetings{
    "The best friend of {A} was {B}, a {temper} {trade_b} with a {temper} {pet}.",
    "One {weather} {time} a {temper} {trade_b} came by with a {pet}, and the name of the stranger was {B}.",
    "Next door lived {B}, who was a {trade_b} and had a {temper} {pet}."};
inline constexpr std::array<std::string_view, 10> middles_of_story{
    "On a {weather} {time} {X} lost the {thing}, and {Y} looked for it {hideout}.",
    "\"{Y}, have you seen my {thing}?\" asked {X}, but {Y} had only seen the {pet}.",
    "{X} gave {Y} some {food}, and {Y} gave {X} some {food}.",
    "After a while {X} heard the {pet} {hideout} and called out for {Y}.",
    "So {X} {deed} to the {place} while {Y} {pastime}.",
    "\"A {trade_a} and a {trade_b} should help each other,\" said {X}, and {Y} laughed.",
    "{X} told {Y} the tale of a {temper} {animal}, and {Y} told {X} another.",
    "It was {weather} that {time}, and {X} {pastime} until {Y} came back from the {place}.",
    "There was a {temper} {animal} {hideout}, and it liked {X} more than {Y}.",
    "\"Do not go to the {place}, {Y},\" said {X}, so {Y} {pastime} {near} the {home}."};
inline constexpr std::array<std::string_view, 3> endings{
    "At last {X} found the {thing} {hideout}, and {Y} shouted for joy.",
    "In the end the {pet} brought the {thing} back, and {X} thanked {Y} with {food}.",
    "From that {time} on {A} the {trade_a} and {B} the {trade_b} shared the {thing}."};

}  // namespace blockzoo::story
