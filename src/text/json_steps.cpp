#include "text/json_steps.h"

#include <memory>

#include "text/base64.h"
#include "text/word_patterns.h"

namespace blockzoo {

namespace {

std::string type_of(const JsonNode& node) { return node.get("type").text(); }

[[noreturn]] void fail_type(const JsonNode& node, const std::string& allowed) {
  node.get("type").fail("'" + type_of(node) + "' is not supported; one of: " + allowed);
}

/// Calls `read` for the node, or for each node of a Sequence.
template <class Read>
void each_step(const JsonNode& node, const std::string& list, const Read& read) {
  if (node.is_null()) return;
  if (type_of(node) != "Sequence") return read(node);
  node.expect_keys({"type", list});
  const auto steps = node.get(list);
  for (size_t i = 0; i < steps.size(); ++i) each_step(steps.at(i), list, read);
}

template <class Make>
Pattern compiled(const JsonNode& place, const Make& make) {
  try {
    return make();
  } catch (const std::runtime_error& error) {
    place.fail(error.what());
  }
}

Pattern read_pattern(const JsonNode& node) {
  node.expect_keys({"String", "Regex"});
  const auto regex = node.get("Regex");
  if (!regex.is_null()) return compiled(regex, [&] { return Pattern(regex.text()); });
  const auto literal = node.get("String");
  if (literal.is_null()) node.fail("needs a Regex or a String");
  return compiled(literal, [&] { return Pattern::literal(literal.text()); });
}

SplitBehavior read_behavior(const JsonNode& node) {
  const auto name = node.text();
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  node.fail("'" + name +
            "' is not supported; one of: Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous");
}

/// How Metaspace puts a mark in front; older files have add_prefix_space instead.
MetaspaceStep::Prepend read_prepend(const JsonNode& node) {
  using enum MetaspaceStep::Prepend;
  const auto scheme = node.get("prepend_scheme");
  if (scheme.is_null()) return node.get("add_prefix_space").flag_or(true) ? kAlways : kNever;
  const auto name = scheme.text();
  if (name == "always") return kAlways;
  if (name == "first") return kFirst;
  if (name == "never") return kNever;
  scheme.fail("'" + name + "' is not supported; one of: always, first, never");
}

std::string read_mark(const JsonNode& node) {
  node.expect_keys({"type", "replacement", "prepend_scheme", "add_prefix_space", "split", "str_rep"});
  const auto mark = node.get("replacement").text();
  if (mark.empty()) node.get("replacement").fail("is empty");
  return mark;
}

/// The table in base 64; null or empty when there is nothing to do.
void read_char_map(const JsonNode& table, std::vector<NormalizerStep>& steps) {
  if (table.is_null() || table.text().empty()) return;
  try {
    steps.emplace_back(CharMapStep{std::make_shared<const CharMap>(base64_bytes(table.text()))});
  } catch (const std::runtime_error& error) {
    table.fail(error.what());
  }
}

void read_normalizer_step(const JsonNode& node, std::vector<NormalizerStep>& steps) {
  const auto type = type_of(node);
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    node.expect_keys({"type"});
    steps.emplace_back(NormalFormStep{.compatible = type.size() == 4, .composed = type.back() == 'C'});
  } else if (type == "Prepend") {
    node.expect_keys({"type", "prepend"});
    steps.emplace_back(PrependStep{node.get("prepend").text()});
  } else if (type == "Replace") {
    node.expect_keys({"type", "pattern", "content"});
    steps.emplace_back(ReplaceStep{read_pattern(node.get("pattern")), node.get("content").text()});
  } else if (type == "Lowercase") {
    node.expect_keys({"type"});
    steps.emplace_back(LowercaseStep{});
  } else if (type == "Strip") {
    node.expect_keys({"type", "strip_left", "strip_right"});
    steps.emplace_back(StripStep{node.get("strip_left").flag_or(true), node.get("strip_right").flag_or(true)});
  } else if (type == "StripAccents") {
    node.expect_keys({"type"});
    steps.emplace_back(StripAccentsStep{});
  } else if (type == "Precompiled") {
    node.expect_keys({"type", "precompiled_charsmap"});
    read_char_map(node.get("precompiled_charsmap"), steps);
  } else {
    fail_type(node, "NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, Replace, Precompiled, Sequence");
  }
}

void read_pre_tokenizer_step(const JsonNode& node, PreTokenizerSteps& found) {
  const auto type = type_of(node);
  auto& steps = found.steps;
  if (found.byte_level) {
    if (type == "ByteLevel") node.fail("is a second ByteLevel; one is supported");
    if (!found.byte_letters) steps.emplace_back(ByteLettersStep{});
    found.byte_letters = true;
  }
  if (type == "ByteLevel") {
    node.expect_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    if (node.get("add_prefix_space").flag_or(true)) steps.emplace_back(PrefixSpaceStep{});
    if (node.get("use_regex").flag_or(true)) steps.emplace_back(SplitStep{Pattern(kGpt2Pattern)});
    found.byte_level = true;
  } else if (type == "Split") {
    node.expect_keys({"type", "pattern", "behavior", "invert"});
    steps.emplace_back(SplitStep{read_pattern(node.get("pattern")), read_behavior(node.get("behavior")),
                                 node.get("invert").flag_or(false)});
  } else if (type == "Digits") {
    node.expect_keys({"type", "individual_digits"});
    const bool each = node.get("individual_digits").flag_or(false);
    steps.emplace_back(SplitStep{Pattern(kDigitPattern), each ? SplitBehavior::kIsolated : SplitBehavior::kContiguous});
  } else if (type == "Metaspace") {
    MetaspaceStep step{.mark = read_mark(node), .prepend = read_prepend(node), .cut = {}};
    if (node.get("split").flag_or(true)) step.cut = Pattern::literal(step.mark);
    steps.emplace_back(std::move(step));
  } else if (type == "WhitespaceSplit") {
    node.expect_keys({"type"});
    steps.emplace_back(SplitStep{Pattern(kSpacePattern), SplitBehavior::kRemoved});
  } else if (type == "Whitespace") {
    node.expect_keys({"type"});
    steps.emplace_back(SplitStep{Pattern(kWordsOrNot), SplitBehavior::kRemoved, true});
  } else if (type == "Punctuation") {
    node.expect_keys({"type", "behavior"});
    const auto behavior = node.get("behavior");
    steps.emplace_back(SplitStep{Pattern(kPunctuationPattern),
                                 behavior.is_null() ? SplitBehavior::kIsolated : read_behavior(behavior)});
  } else {
    fail_type(node, "ByteLevel, Split, Digits, Punctuation, Metaspace, Whitespace, WhitespaceSplit, Sequence");
  }
}

void read_decoder_step(const JsonNode& node, std::vector<DecoderStep>& steps) {
  const auto type = type_of(node);
  if (type == "ByteLevel") {
    node.expect_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    steps.emplace_back(ByteLevelDecoding{});
  } else if (type == "ByteFallback") {
    node.expect_keys({"type"});
    steps.emplace_back(ByteFallbackDecoding{});
  } else if (type == "Fuse") {
    node.expect_keys({"type"});
    steps.emplace_back(FuseDecoding{});
  } else if (type == "Replace") {
    node.expect_keys({"type", "pattern", "content"});
    steps.emplace_back(ReplaceDecoding{read_pattern(node.get("pattern")), node.get("content").text()});
  } else if (type == "Strip") {
    node.expect_keys({"type", "content", "start", "stop"});
    const auto content = node.get("content").text();
    if (content.empty()) node.get("content").fail("is empty");
    steps.emplace_back(StripDecoding{content, node.get("start").number(1 << 20), node.get("stop").number(1 << 20)});
  } else if (type == "Metaspace") {
    steps.emplace_back(MetaspaceDecoding{read_mark(node), read_prepend(node) != MetaspaceStep::Prepend::kNever});
  } else {
    fail_type(node, "ByteLevel, ByteFallback, Fuse, Replace, Strip, Metaspace, Sequence");
  }
}

/// Ids that a TemplateProcessing puts around one text.
void read_template(const JsonNode& node, int64_t vocabulary, std::vector<int64_t>& before,
                   std::vector<int64_t>& after) {
  node.expect_keys({"type", "single", "pair", "special_tokens"});
  const auto single = node.get("single");
  bool text_seen = false;
  for (size_t i = 0; i < single.size(); ++i) {
    const auto piece = single.at(i);
    piece.expect_keys({"Sequence", "SpecialToken"});
    if (piece.get("SpecialToken").is_null()) {
      if (text_seen) piece.fail("is a second place for the text");
      text_seen = true;
      continue;
    }
    const auto name = piece.get("SpecialToken").get("id").text();
    const auto ids = node.get("special_tokens").get(name).get("ids");
    for (size_t k = 0; k < ids.size(); ++k) (text_seen ? after : before).push_back(ids.at(k).number(vocabulary - 1));
  }
  if (!text_seen) single.fail("has no place for the text");
}

}  // namespace

std::vector<NormalizerStep> read_normalizer(const JsonNode& node) {
  std::vector<NormalizerStep> steps;
  each_step(node, "normalizers", [&](const JsonNode& step) { read_normalizer_step(step, steps); });
  return steps;
}

PreTokenizerSteps read_pre_tokenizer(const JsonNode& node) {
  PreTokenizerSteps found;
  each_step(node, "pretokenizers", [&](const JsonNode& step) { read_pre_tokenizer_step(step, found); });
  return found;
}

std::vector<DecoderStep> read_decoder(const JsonNode& node) {
  std::vector<DecoderStep> steps;
  each_step(node, "decoders", [&](const JsonNode& step) { read_decoder_step(step, steps); });
  return steps;
}

void read_post_processor(const JsonNode& node, int64_t vocabulary, std::vector<int64_t>& before,
                         std::vector<int64_t>& after) {
  each_step(node, "processors", [&](const JsonNode& step) {
    const auto type = type_of(step);
    std::vector<int64_t> outer_before;
    std::vector<int64_t> outer_after;
    if (type == "TemplateProcessing") {
      read_template(step, vocabulary, outer_before, outer_after);
    } else if (type == "RobertaProcessing" || type == "BertProcessing") {
      step.expect_keys({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
      for (const auto* key : {"cls", "sep"})
        if (step.get(key).size() != 2) step.get(key).fail("must be a token and its id");
      outer_before = {step.get("cls").at(1).number(vocabulary - 1)};
      outer_after = {step.get("sep").at(1).number(vocabulary - 1)};
    } else if (type != "ByteLevel") {  // which changes offsets only
      fail_type(step, "TemplateProcessing, RobertaProcessing, BertProcessing, ByteLevel, Sequence");
    }
    before.insert(before.begin(), outer_before.begin(), outer_before.end());
    after.insert(after.end(), outer_after.begin(), outer_after.end());
  });
}

}  // namespace blockzoo
