#include "lab/report_samples.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "lab/sweep.h"

namespace blockzoo {
namespace {

/// Each line begins with four spaces, which Markdown shows as it is.
std::string as_code(const std::string& text) {
  std::string code = "    ";
  for (const char c : text) {
    code += c;
    if (c == '\n') code += "    ";
  }
  return code;
}

}  // namespace

std::string samples_markdown(const std::vector<SummaryRow>& rows) {
  std::string text;
  for (const auto& row : rows) {
    const auto run = std::find_if(row.runs.begin(), row.runs.end(),
                                  [](const RunOutcome& one) { return one.record.sample.has_value(); });
    if (run == row.runs.end()) continue;
    const auto& sample = *run->record.sample;
    text += fmt::format("\n**{}{}{}**, seed {}:\n\n{}\n", row.arm, row.sweep.empty() ? "" : ", ",
                        row.sweep.empty() ? "" : in_words(row.sweep), run->record.seed,
                        as_code(sample.prompt + sample.text));
  }
  return text.empty() ? text : "\n## What they write\n\nEach after its last step, behind the same prompt.\n" + text;
}

}  // namespace blockzoo
