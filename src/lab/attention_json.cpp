#include "lab/attention_json.h"

#include <ATen/ATen.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace blockzoo {
namespace {

using AttentionJson = nlohmann::ordered_json;

/// Six digits; null when it is not finite.
AttentionJson known_figure(double value) {
  if (!std::isfinite(value)) return nullptr;
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 6).ptr;
  std::from_chars(digits, end, value);
  return value;
}

AttentionJson induction_json(const InductionScores& scores) {
  AttentionJson heads = AttentionJson::array();
  for (const auto& head : scores.heads)
    heads.push_back({{"layer", head.layer},
                     {"head", head.head},
                     {"repeat", known_figure(head.repeat)},
                     {"fresh", known_figure(head.fresh)},
                     {"on_previous", known_figure(head.on_previous)},
                     {"chance", known_figure(head.chance)},
                     {"in_reach", head.in_reach},
                     {"found", head.found}});
  return {{"length", scores.length},
          {"sequences", scores.sequences},
          {"seed", scores.seed},
          {"found_at", scores.found},
          {"heads", heads}};
}

}  // namespace

const InductionHead* induction_of(const AttentionReport& report, int64_t layer, int64_t head) {
  if (!report.induction) return nullptr;
  for (const auto& scored : report.induction->heads)
    if (scored.layer == layer && scored.head == head) return &scored;
  return nullptr;
}

AttentionJson attention_figures(const AttentionReport& report) {
  AttentionJson heads = AttentionJson::array();
  for (const auto& head : report.heads)
    heads.push_back({{"layer", head.layer},
                     {"head", head.head},
                     {"entropy_nats", known_figure(head.figures.entropy_nats)},
                     {"entropy_share", known_figure(head.figures.entropy_share)},
                     {"on_self", known_figure(head.figures.on_self)},
                     {"on_previous", known_figure(head.figures.on_previous)},
                     {"on_first", known_figure(head.figures.on_first)}});
  return {{"schema", 1},
          {"model", report.model},
          {"ids", report.ids},
          {"tokens", report.tokens},
          {"heads", heads},
          {"induction", report.induction ? induction_json(*report.induction) : AttentionJson(nullptr)}};
}

std::string attention_text(const AttentionJson& json) {
  return json.dump(-1, ' ', false, AttentionJson::error_handler_t::replace);
}

std::string attention_json(const AttentionReport& report) {
  auto json = attention_figures(report);
  for (size_t i = 0; i < report.heads.size(); ++i) {
    const auto weights = report.heads[i].weights.to(at::kDouble).contiguous();
    AttentionJson rows = AttentionJson::array();
    for (int64_t query = 0; query < weights.size(0); ++query) {
      AttentionJson row = AttentionJson::array();
      for (int64_t key = 0; key <= query; ++key)
        row.push_back(known_figure(weights.const_data_ptr<double>()[query * weights.size(1) + key]));
      rows.push_back(std::move(row));
    }
    json["heads"][i]["weights"] = std::move(rows);
  }
  return attention_text(json) + "\n";
}

}  // namespace blockzoo
