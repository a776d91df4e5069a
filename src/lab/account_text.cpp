#include "blockzoo/lab/account_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "blockzoo/core/config_error.h"
#include "blockzoo/core/names.h"
#include "lab/zoo_columns.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

constexpr double kGiga = 1e9, kGibi = 1024.0 * 1024 * 1024, kTera = 1e12;

/// "1.50 GB", or "920.00 MB" below one.
std::string gigabytes(double bytes, const AccountView& view) {
  const double giga = view.binary_units ? kGibi : kGiga, thousand = view.binary_units ? 1024 : 1000;
  const std::string unit = view.binary_units ? "iB" : "B";
  if (bytes == 0 || bytes >= giga) return fmt::format("{:.2f} G{}", bytes / giga, unit);
  return fmt::format("{:.2f} M{}", bytes / giga * thousand, unit);
}

std::string plain_bytes(double bytes) { return with_commas(static_cast<int64_t>(bytes)) + " bytes"; }

/// "1.234 ms" in the unit that fits.
std::string duration(double seconds) {
  if (seconds >= 2 * 86400) return fmt::format("{:.1f} days ({:.0f} h)", seconds / 86400, seconds / 3600);
  if (seconds >= 3600) return fmt::format("{:.1f} h", seconds / 3600);
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} us", seconds * 1e6);
}

/// Lines whose columns stand under each other; the first column to the left, the others to the right.
std::string aligned(const std::vector<Cells>& lines) {
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const auto& line : lines) {
    out += fmt::format("  {:<{}}", line[0], widths[0]);
    for (size_t i = 1; i < line.size(); ++i) out += fmt::format("  {:>{}}", line[i], widths[i]);
    out += "\n";
  }
  return out;
}

std::string share(double part, double whole) { return fmt::format("{:.1f} %", 100 * part / whole); }

double peak(const DeviceSheet& device, Precision precision) {
  return kTera * (precision == Precision::kFloat32 ? device.float32_tflops : device.bfloat16_tflops);
}

std::optional<double> memory_limit(const AccountView& view) {
  if (view.memory_gb) return *view.memory_gb * (view.binary_units ? kGibi : kGiga);
  return view.device ? std::optional(view.device->memory_gb * kGiga) : std::nullopt;
}

double least_time(const Work& work, const Account& account, const DeviceSheet& device) {
  return work.least_seconds(peak(device, account.query.precision), kGiga * device.bandwidth_gb_s);
}

double training_seconds(const Account& account, const AccountView& view) {
  return static_cast<double>(view.steps) * account.training_flops() /
         (view.utilisation * peak(*view.device, account.query.precision));
}

std::string flops_section(const Account& account) {
  const auto& forward = account.forward;
  std::vector<Cells> lines{{"part", "FLOP a sequence", "FLOP a token", "share"}};
  const auto row = [&](std::string_view part, double flops) {
    lines.push_back({std::string(part), fmt::format("{:.4g}", flops),
                     fmt::format("{:.4g}", flops / static_cast<double>(account.context)),
                     share(flops, forward.total())});
  };
  for (const auto& [part, flops] : forward.parts()) {
    if (flops > 0) row(part, flops);
  }
  row("total", forward.total());
  return fmt::format("\nforward pass over {} tokens (2 for each multiply-add of a matrix product; {})\n",
                     account.context, name_of(account.query.pairs)) +
         aligned(lines) +
         fmt::format("  training, 3 x forward: {:.4g} FLOP a token, {:.4g} an update of {} sequence{}\n",
                     3 * forward.total() / static_cast<double>(account.context), account.training_flops(),
                     account.query.batch, account.query.batch == 1 ? "" : "s");
}

std::string cache_section(const Account& account, const AccountView& view) {
  return fmt::format("\ncache of keys and values, {}\n", name_of(account.query.precision)) +
         aligned({{"a token", plain_bytes(account.cache_per_token)},
                  {fmt::format("a sequence of {}", account.context), gigabytes(account.cache, view)},
                  {fmt::format("a batch of {}", account.query.batch),
                   gigabytes(account.cache * static_cast<double>(account.query.batch), view)}});
}

std::string update_section(const Account& account, const AccountView& view) {
  const auto& [query, update] = std::tie(account.query, *account.update);
  std::vector<Cells> lines{
      {"weights, float32", gigabytes(update.weights, view)},
      {"gradients, float32", gigabytes(update.gradients, view)},
      {fmt::format("moments of {}, float32", name_of(query.optimizer)), gigabytes(update.moments, view)},
      {"tables of positions", gigabytes(update.tables, view)},
      {fmt::format("kept by the forward pass, batch of {}", query.batch), gigabytes(update.kept, view)},
      {"most at a time", gigabytes(update.peak, view)}};
  if (const auto limit = memory_limit(view))
    lines.push_back({"largest batch in " + gigabytes(*limit, view), std::to_string(account.largest_update(*limit))});
  return fmt::format(
             "\nmemory of training on the CPU, {}, {} (the batch in one part; most in the {})\n",
             name_of(query.precision),
             query.kept == KeptActivations::kFused ? "with this program's kernels" : "with train.kernels: reference",
             update.moment) +
         aligned(lines);
}

std::string memory_section(const Account& account, const AccountView& view) {
  if (account.update) return update_section(account, view);
  const auto& memory = account.memory;
  std::vector<Cells> lines{{"weights, float32", gigabytes(memory.weights, view)}};
  if (memory.weight_copies > 0) lines.push_back({"weights, bfloat16 copy", gigabytes(memory.weight_copies, view)});
  lines.push_back({"gradients, float32", gigabytes(memory.gradients, view)});
  lines.push_back(
      {fmt::format("moments of {}, float32", name_of(account.query.optimizer)), gigabytes(memory.moments, view)});
  lines.push_back({"activations a sequence", gigabytes(memory.activations, view)});
  lines.push_back({"scores a sequence, where stored", gigabytes(memory.scores, view)});
  const auto batch = account.query.batch;
  lines.push_back({fmt::format("batch of {}, scores stored", batch), gigabytes(memory.of_batch(batch, true), view)});
  lines.push_back(
      {fmt::format("batch of {}, scores not stored", batch), gigabytes(memory.of_batch(batch, false), view)});
  if (const auto limit = memory_limit(view)) {
    const auto room = gigabytes(*limit, view);
    lines.push_back(
        {"largest batch in " + room + ", scores stored", std::to_string(memory.largest_batch(*limit, true))});
    lines.push_back(
        {"largest batch in " + room + ", scores not stored", std::to_string(memory.largest_batch(*limit, false))});
  }
  return fmt::format(
             "\nmemory of training, {} (output of every norm, product and activation kept; {} of the logits)\n",
             name_of(account.query.precision),
             account.query.logit_copies == 1 ? "one copy" : fmt::format("{} copies", account.query.logit_copies)) +
         aligned(lines);
}

std::string inference_section(const Account& account, const AccountView& view) {
  std::vector<Cells> lines{{"", "FLOP", "bytes", "FLOP a byte"}};
  if (view.device) lines[0].push_back("least time");
  for (const auto& [name, work] :
       {std::pair("prefill", &account.prefill), std::pair("decode, a token each", &account.decode)}) {
    Cells line{name, fmt::format("{:.4g}", work->flops), fmt::format("{:.4g}", work->bytes),
               fmt::format("{:.4g}", work->intensity())};
    if (view.device) line.push_back(duration(least_time(*work, account, *view.device)));
    lines.push_back(std::move(line));
  }
  return fmt::format("\ninference, {} sequence{} (bytes of weights and cache; streams of activations not counted)\n",
                     account.query.batch, account.query.batch == 1 ? "" : "s") +
         aligned(lines);
}

std::string device_section(const Account& account, const AccountView& view) {
  if (!view.device) return "";
  const auto& device = *view.device;
  auto text = fmt::format("\non {}: {:g} TFLOP/s in {}, {:g} GB/s, {:g} GB ({})\n", device.name,
                          peak(device, account.query.precision) / kTera, name_of(account.query.precision),
                          device.bandwidth_gb_s, device.memory_gb, device.source);
  std::vector<Cells> lines{
      {fmt::format("an update at {:.0f} % of the peak", 100 * view.utilisation),
       duration(account.training_flops() / (view.utilisation * peak(device, account.query.precision)))}};
  if (view.steps > 0)
    lines.push_back({fmt::format("{} updates", with_commas(view.steps)), duration(training_seconds(account, view))});
  return text + aligned(lines);
}

void add_update(Json& json, const Account& account, const AccountView& view) {
  const auto& update = *account.update;
  json["memory_bytes"] = {{"weights", update.weights},   {"gradients", update.gradients}, {"moments", update.moments},
                          {"tables", update.tables},     {"kept", update.kept},           {"peak", update.peak},
                          {"peak_moment", update.moment}};
  if (const auto limit = memory_limit(view))
    json["largest_batch"] = {{"memory_bytes", *limit}, {"batch", account.largest_update(*limit)}};
}

void add_memory(Json& json, const Account& account, const AccountView& view) {
  const auto& [query, memory] = std::tie(account.query, account.memory);
  json["memory_bytes"] = {{"weights", memory.weights},
                          {"weight_copies", memory.weight_copies},
                          {"gradients", memory.gradients},
                          {"moments", memory.moments},
                          {"activations_per_sequence", memory.activations},
                          {"scores_per_sequence", memory.scores},
                          {"batch_with_scores", memory.of_batch(query.batch, true)},
                          {"batch_without_scores", memory.of_batch(query.batch, false)}};
  if (const auto limit = memory_limit(view))
    json["largest_batch"] = {{"memory_bytes", *limit},
                             {"with_scores", memory.largest_batch(*limit, true)},
                             {"without_scores", memory.largest_batch(*limit, false)}};
}

Json account_as_json(const Account& account, const AccountView& view) {
  const auto& query = account.query;
  Json json{{"batch", query.batch},
            {"context", account.context},
            {"precision", name_of(query.precision)},
            {"optimizer", name_of(query.optimizer)},
            {"pairs", name_of(query.pairs)},
            {"logit_copies", query.logit_copies},
            {"kept", name_of(query.kept)},
            {"parameters", account.parameters.total},
            {"parameters_by_part", account.parameters.by_part}};
  for (const auto& [part, flops] : account.forward.parts()) json["forward_flops"][std::string(part)] = flops;
  json["forward_flops"]["total"] = account.forward.total();
  json["training_flops"] = account.training_flops();
  json["cache_bytes_per_token"] = account.cache_per_token;
  json["cache_bytes"] = account.cache;
  (account.update ? add_update : add_memory)(json, account, view);
  for (const auto& [name, work] : {std::pair("prefill", &account.prefill), std::pair("decode", &account.decode)}) {
    json[name] = {{"flops", work->flops}, {"bytes", work->bytes}, {"flops_per_byte", work->intensity()}};
    if (view.device) json[name]["least_seconds"] = least_time(*work, account, *view.device);
  }
  if (view.device) json["device"] = view.device->name;
  if (view.device && view.steps > 0) json["training_seconds"] = training_seconds(account, view);
  return json;
}

/// What training takes, and the largest batch where there is a limit.
Cells training_cells(const Account& account, const AccountView& view) {
  const auto limit = memory_limit(view);
  if (account.update) {
    Cells cells{gigabytes(account.update->peak, view)};
    if (limit) cells.push_back(std::to_string(account.largest_update(*limit)));
    return cells;
  }
  const auto& memory = account.memory;
  Cells cells;
  for (const bool stored : {true, false})
    cells.push_back(gigabytes(memory.of_batch(account.query.batch, stored), view));
  if (!limit) return cells;
  for (const bool stored : {true, false}) cells.push_back(std::to_string(memory.largest_batch(*limit, stored)));
  return cells;
}

int64_t whole_number(std::string_view text, const std::string& whole) {
  int64_t value = 0;
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 1)
    throw ConfigError(Problem{{}, "--sweep", "has '" + whole + "'; give 1024..131072 or 1,2,4"});
  return value;
}

}  // namespace

std::string account_text(const std::string& name, const Account& account, const AccountView& view) {
  auto text = fmt::format("{}: {} parameters\n", name, with_commas(account.parameters.total));
  std::vector<Cells> parts;
  for (const auto& [part, count] : account.parameters.by_part)
    parts.push_back(
        {part, with_commas(count), share(static_cast<double>(count), static_cast<double>(account.parameters.total))});
  return text + aligned(parts) + flops_section(account) + cache_section(account, view) + memory_section(account, view) +
         inference_section(account, view) + device_section(account, view);
}

std::string account_json(const std::string& name, const Account& account, const AccountView& view) {
  Json json{{"model", name}};
  json.update(account_as_json(account, view));
  return json.dump(2) + "\n";
}

std::string account_table(const std::vector<Account>& accounts, const AccountView& view) {
  const bool traced = !accounts.empty() && accounts.front().update;
  std::vector<Cells> lines{{"context", "batch", "forward FLOP a token", "scores, values", "cache a sequence"}};
  const auto add = [](Cells& line, const Cells& more) { line.insert(line.end(), more.begin(), more.end()); };
  add(lines[0], traced ? Cells{"training, at most"} : Cells{"training, scores stored", "not stored"});
  if (memory_limit(view)) add(lines[0], traced ? Cells{"largest batch"} : Cells{"largest batch, stored", "not stored"});
  if (view.device) add(lines[0], {"prefill, least", "decode, least"});
  for (const auto& account : accounts) {
    Cells line{std::to_string(account.context), std::to_string(account.query.batch),
               fmt::format("{:.4g}", account.forward.total() / static_cast<double>(account.context)),
               share(account.forward.scores + account.forward.values, account.forward.total()),
               gigabytes(account.cache, view)};
    add(line, training_cells(account, view));
    if (view.device) {
      line.push_back(duration(least_time(account.prefill, account, *view.device)));
      line.push_back(duration(least_time(account.decode, account, *view.device)));
    }
    lines.push_back(std::move(line));
  }
  return aligned(lines);
}

std::string account_table_json(const std::vector<Account>& accounts, const AccountView& view) {
  Json rows = Json::array();
  for (const auto& account : accounts) rows.push_back(account_as_json(account, view));
  return rows.dump(2) + "\n";
}

std::vector<int64_t> sweep_values(const std::string& text) {
  std::vector<int64_t> values;
  if (const auto dots = text.find(".."); dots != text.npos) {
    const auto last = whole_number(std::string_view(text).substr(dots + 2), text);
    for (auto value = whole_number(std::string_view(text).substr(0, dots), text); value <= last; value *= 2)
      values.push_back(value);
    if (values.empty()) throw ConfigError(Problem{{}, "--sweep", "has '" + text + "', which ends before it begins"});
    return values;
  }
  size_t begin = 0;
  for (auto comma = text.find(','); begin <= text.size(); comma = text.find(',', begin)) {
    const auto end = std::min(comma, text.size());
    values.push_back(whole_number(std::string_view(text).substr(begin, end - begin), text));
    begin = end + 1;
  }
  return values;
}

}  // namespace blockzoo
