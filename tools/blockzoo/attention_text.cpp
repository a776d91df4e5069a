#include "attention_text.h"

#include <ATen/ATen.h>
#include <spdlog/fmt/fmt.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "blockzoo/text/token_texts.h"

namespace blockzoo {
namespace {

/// A cell of a map: what a weight of at least `from` is drawn as, and its colour of a terminal's 256.
struct Shade {
  double from;
  std::string_view sign;
  int colour;
};
constexpr std::array kShades{Shade{0.75, "█", 202}, Shade{0.5, "▓", 214},  Shade{0.25, "▒", 39},
                             Shade{0.1, "░", 67},   Shade{0.02, "·", 244}, Shade{0, " ", 244}};

constexpr size_t kLabelColumns = 16;
constexpr size_t kFewestColumns = 40;
constexpr int64_t kMostRows = 64;

/// "-" where a figure is not known.
std::string figure(double value, int width) {
  return std::isfinite(value) ? fmt::format("{:>{}.3f}", value, width) : fmt::format("{:>{}}", "-", width);
}

std::string shaded(double weight, size_t width, bool colour) {
  const auto shade =
      std::find_if(kShades.begin(), kShades.end(), [&](const Shade& each) { return weight >= each.from; });
  std::string cell;
  for (size_t i = 0; i < width; ++i) cell += shade->sign;
  return colour && shade->sign != " " ? fmt::format("\x1b[38;5;{}m{}\x1b[0m", shade->colour, cell) : cell;
}

std::string legend(bool colour) {
  std::string text = "weight:";
  for (auto shade = kShades.rbegin(); shade != kShades.rend(); ++shade)
    text += shade->sign == " " ? " blank below 2 %"
                               : fmt::format(", {} from {:.0f} %", shaded(shade->from, 1, colour), 100 * shade->from);
  return text + "\n";
}

double elsewhere(const HeadFigures& figures) { return 1 - figures.on_self - figures.on_previous - figures.on_first; }

/// The heads whose maps are printed, by layer and head.
std::vector<const AttentionHead*> shown_heads(const AttentionReport& report, size_t most) {
  std::vector<const AttentionHead*> heads;
  for (const auto& head : report.heads) heads.push_back(&head);
  const auto worth = [&](const AttentionHead* head) {
    const auto* scores = induction_of(report, head->layer, head->head);
    return std::pair(scores != nullptr && scores->found, elsewhere(head->figures));
  };
  if (heads.size() > most) {
    std::stable_sort(heads.begin(), heads.end(), [&](const auto* a, const auto* b) { return worth(a) > worth(b); });
    heads.resize(most);
    std::sort(heads.begin(), heads.end(),
              [](const auto* a, const auto* b) { return std::pair(a->layer, a->head) < std::pair(b->layer, b->head); });
  }
  return heads;
}

/// The numbers of the keys above their columns, where there is room.
std::string key_numbers(int64_t cells, size_t width, int64_t keys_a_cell) {
  std::string line;
  const int64_t step = width == 2 ? 5 : 10;
  for (int64_t cell = 0; cell < cells; cell += step) {
    line.resize(static_cast<size_t>(cell) * width, ' ');
    line += std::to_string(cell * keys_a_cell);
  }
  return line;
}

std::string map_text(const AttentionReport& report, const AttentionHead& head, const Screen& screen) {
  const auto tokens = std::ssize(report.tokens);
  const auto room = static_cast<int64_t>(std::max(screen.columns, kFewestColumns) - kLabelColumns - 6);
  const auto keys_a_cell = (tokens + room - 1) / room, cells = (tokens + keys_a_cell - 1) / keys_a_cell;
  const size_t width = 2 * tokens <= room ? 2 : 1;
  const auto weights = head.weights.to(at::kDouble).contiguous();
  auto text = fmt::format("\nlayer {}, head {}{}{}\n", head.layer, head.head,
                          keys_a_cell > 1 ? fmt::format("; a column is {} keys, their sum", keys_a_cell) : "",
                          tokens > kMostRows ? fmt::format("; the last {} of {} queries", kMostRows, tokens) : "");
  text += std::string(kLabelColumns + 6, ' ') + key_numbers(cells, width, keys_a_cell) + "\n";
  for (auto query = std::max<int64_t>(0, tokens - kMostRows); query < tokens; ++query) {
    const auto label = visible_text(report.tokens[static_cast<size_t>(query)]);
    text += fmt::format("{:>4} {} ", query, in_columns(label, kLabelColumns));
    for (int64_t first = 0; first <= query; first += keys_a_cell) {
      double weight = 0;
      for (auto key = first; key < std::min(first + keys_a_cell, query + 1); ++key)
        weight += weights.const_data_ptr<double>()[query * tokens + key];
      text += shaded(weight, width, screen.colour);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace

Screen screen_of_output() {
  Screen screen;
  const auto set = [](const char* name) {
    const auto* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  if (const auto columns = std::atoi(std::string(set("COLUMNS")).c_str()); columns > 0)
    screen.columns = static_cast<size_t>(columns);
  if (isatty(STDOUT_FILENO) != 1) return screen;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) screen.columns = size.ws_col;
  screen.colour = set("NO_COLOR").empty() && set("TERM") != "dumb";
  return screen;
}

std::string induction_text(const AttentionReport& report) {
  if (!report.induction) return "";
  const auto& scores = *report.induction;
  std::string found;
  const InductionHead* best = nullptr;
  double chance = 0;
  for (const auto& head : scores.heads) {
    if (head.found)
      found +=
          fmt::format("{}{}.{} ({:.2f})", found.empty() ? "" : ", ", head.layer, head.head, head.repeat - head.fresh);
    if (best == nullptr || head.repeat - head.fresh > best->repeat - best->fresh) best = &head;
    chance = std::max(chance, head.chance);
  }
  if (found.empty())
    found = fmt::format("none; the nearest is {}.{} ({:.2f})", best->layer, best->head, best->repeat - best->fresh);
  const bool hidden =
      std::any_of(scores.heads.begin(), scores.heads.end(), [](const auto& head) { return !head.in_reach; });
  return fmt::format(
      "Induction: mean weight on the token after the previous occurrence of the current one, over {} random sequences "
      "of "
      "{} different tokens that stand there twice, seed {}; even weights would have {:.3f}.\nFresh: the same where the "
      "second copy is another sequence. An induction head has {} more with the repeat than without.\n{}Induction "
      "heads, "
      "as layer.head (difference): {}\n",
      scores.sequences, scores.length, scores.seed, chance, scores.found,
      hidden
          ? fmt::format("The window of some layers is shorter than {} tokens: their heads, marked w, cannot look that "
                        "far back; --length asks for shorter sequences.\n",
                        scores.length)
          : "",
      found);
}

std::string heads_table(const AttentionReport& report) {
  const bool scored = report.induction.has_value(), read = !report.ids.empty();
  std::string text;
  if (read)
    text += fmt::format(
        "Means over the {} tokens after the first: entropy in nats; share, of its most, ln(keys seen); weight on the "
        "token "
        "itself, the one before it, the first.\n",
        report.ids.size() - 1);
  text += "layer  head";
  if (read) text += "  entropy   share    self  previous   first";
  if (scored) text += fmt::format("  {}induction   fresh", read ? "" : "previous  ");
  text += "\n";
  const auto add = [&](int64_t layer, int64_t head, const HeadFigures* figures) {
    text += fmt::format("{:>5} {:>5}", layer, head);
    if (figures != nullptr)
      text += figure(figures->entropy_nats, 9) + figure(figures->entropy_share, 8) + figure(figures->on_self, 8) +
              figure(figures->on_previous, 10) + figure(figures->on_first, 8);
    if (const auto* scores = induction_of(report, layer, head))
      text += (figures == nullptr ? figure(scores->on_previous, 10) : "") + figure(scores->repeat, 11) +
              figure(scores->fresh, 8) +
              (scores->found      ? " *"
               : scores->in_reach ? ""
                                  : " w");
    text += "\n";
  };
  for (const auto& head : report.heads) add(head.layer, head.head, &head.figures);
  if (!read && scored) {
    for (const auto& head : report.induction->heads) add(head.layer, head.head, nullptr);
  }
  return text;
}

std::string maps_text(const AttentionReport& report, int64_t most, const Screen& screen) {
  const auto shown = shown_heads(report, static_cast<size_t>(most));
  if (shown.empty()) return "";
  std::string text = legend(screen.colour);
  if (shown.size() < report.heads.size())
    text += fmt::format(
        "{} of {} maps, induction heads first, then those with the most weight on tokens other than the "
        "query's, the one before and the first; --layers, --heads and --maps choose.\n",
        shown.size(), report.heads.size());
  for (const auto* head : shown) text += map_text(report, *head, screen);
  return text;
}

}  // namespace blockzoo
