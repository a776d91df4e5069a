#include <ATen/ATen.h>
#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "lab/attention_json.h"
#include "lab/page_parts.h"

namespace blockzoo {
namespace {

constexpr size_t kLargestPage = 64 << 20;  // bytes; browsers become slow

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const auto part = bytes.substr(at, 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < part.size() ? static_cast<uint8_t>(part[i]) : 0);
    for (size_t i = 0; i < 4; ++i) text += i <= part.size() ? letters[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

/// round(255 sqrt(w_ij)) of the keys j up to each query i, row by row.
std::string quantised(const Tensor& weights) {
  const auto bytes = weights.clamp(0, 1).sqrt().mul(255).round().to(at::kByte).contiguous();
  std::string rows;
  for (int64_t query = 0; query < bytes.size(0); ++query)
    rows.append(reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>()) + query * bytes.size(1),
                static_cast<size_t>(query) + 1);
  return rows;
}

}  // namespace

std::string attention_page(const AttentionReport& report) {
  const auto tokens = report.ids.size();
  const auto size = report.heads.size() * (tokens * (tokens + 1) / 2) / 3 * 4;
  if (size > kLargestPage)
    throw std::runtime_error(
        fmt::format("a page with {} maps of {} tokens would have {} MiB, and {} is the most; choose "
                    "layers or heads, or a shorter prompt",
                    report.heads.size(), tokens, size >> 20, kLargestPage >> 20));
  auto json = attention_figures(report);
  for (size_t i = 0; i < report.heads.size(); ++i)
    json["heads"][i]["weights"] = base64_of(quantised(report.heads[i].weights));
  return filled_page(embedded_attention_page(), "attention of " + report.model, attention_text(json));
}

}  // namespace blockzoo
