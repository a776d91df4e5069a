#include "text/pre_tokenizer.h"

#include <algorithm>

#include "text/byte_letters.h"

namespace blockzoo {
namespace {

struct Part {
  size_t begin;
  size_t end;
  bool match;
};

/// All of the text, cut at begins and ends of the spans.
void cover(const std::vector<Pattern::Span>& spans, size_t size, bool invert, std::vector<Part>& parts) {
  parts.clear();
  size_t at = 0;
  for (const auto& span : spans) {
    if (at != span.begin) parts.push_back({at, span.begin, invert});
    parts.push_back({span.begin, span.end, !invert});
    at = span.end;
  }
  if (at != size) parts.push_back({at, size, invert});
}

/// Joins neighbours as the behaviour says.
void join_parts(SplitBehavior behavior, std::vector<Part>& parts) {
  std::vector<Part> joined;
  bool after_match = false;
  const auto absorb = [&](auto first, auto last, auto joins, auto extend) {
    for (; first != last; ++first) {
      if (!joined.empty() && joins(*first)) {
        extend(joined.back(), *first);
      } else {
        joined.push_back(*first);
      }
      after_match = first->match;
    }
  };
  const auto to_the_right = [](Part& kept, const Part& part) { kept.end = part.end; };
  switch (behavior) {
    case SplitBehavior::kIsolated:
      return;
    case SplitBehavior::kRemoved:
      std::erase_if(parts, [](const Part& part) { return part.match; });
      return;
    case SplitBehavior::kContiguous:
      absorb(
          parts.begin(), parts.end(), [&](const Part& part) { return part.match == after_match; }, to_the_right);
      break;
    case SplitBehavior::kMergedWithPrevious:
      absorb(
          parts.begin(), parts.end(), [&](const Part& part) { return part.match && !after_match; }, to_the_right);
      break;
    case SplitBehavior::kMergedWithNext:
      absorb(
          parts.rbegin(), parts.rend(), [&](const Part& part) { return part.match && !after_match; },
          [](Part& kept, const Part& part) { kept.begin = part.begin; });
      std::reverse(joined.begin(), joined.end());
      break;
  }
  parts = std::move(joined);
}

void split_piece(const SplitStep& step, const Piece& piece, Pieces& pieces) {
  pieces.spans.clear();
  step.pattern.find_all(piece.text, pieces.spans);
  const auto push = [&](size_t begin, size_t end) {
    if (end > begin)
      pieces.next.push_back(
          {piece.text.substr(begin, end - begin), piece.first && begin == 0, piece.goes_on && begin == 0});
  };
  if (step.behavior == SplitBehavior::kIsolated) {
    size_t at = 0;
    for (const auto& span : pieces.spans) {
      push(at, span.begin);
      push(span.begin, span.end);
      at = span.end;
    }
    push(at, piece.text.size());
    return;
  }
  std::vector<Part> parts;
  cover(pieces.spans, piece.text.size(), step.invert, parts);
  join_parts(step.behavior, parts);
  for (const auto& part : parts) push(part.begin, part.end);
}

void apply(const SplitStep& step, Pieces& pieces) {
  for (const auto& piece : pieces.list) split_piece(step, piece, pieces);
}

void apply(const PrefixSpaceStep&, Pieces& pieces) {
  for (auto piece : pieces.list) {
    if (!piece.goes_on && !piece.text.starts_with(' '))
      piece.text = pieces.owned.emplace_back(" " + std::string(piece.text));
    pieces.next.push_back(piece);
  }
}

void apply(const ByteLettersStep&, Pieces& pieces) {
  for (auto piece : pieces.list) {
    piece.text = pieces.owned.emplace_back(letters_of(piece.text));
    pieces.next.push_back(piece);
  }
}

void apply(const MetaspaceStep& step, Pieces& pieces) {
  using enum MetaspaceStep::Prepend;
  for (const auto& piece : pieces.list) {
    auto& text = pieces.owned.emplace_back();
    for (const char c : piece.text) {
      if (c == ' ') {
        text += step.mark;
      } else {
        text += c;
      }
    }
    const bool wanted = step.prepend == kAlways || (step.prepend == kFirst && piece.first);
    if (wanted && !piece.goes_on && !text.starts_with(step.mark)) text.insert(0, step.mark);
    const Piece marked{text, piece.first, piece.goes_on};
    if (step.cut) {
      split_piece({*step.cut, SplitBehavior::kMergedWithNext}, marked, pieces);
    } else {
      pieces.next.push_back(marked);
    }
  }
}

}  // namespace

void pre_tokenize(const PreTokenizerStep& step, Pieces& pieces) {
  pieces.next.clear();
  std::visit([&](const auto& kind) { apply(kind, pieces); }, step);
  pieces.list.swap(pieces.next);
}

}  // namespace blockzoo
