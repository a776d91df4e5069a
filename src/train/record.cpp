#include "blockzoo/train/record.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "blockzoo/core/names.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/nn/flops.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no nan and no inf.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_object(const EvalResult& result) {
  Json json = {{"loss", number(result.loss)}};
  if (result.bits_per_byte) json["bits_per_byte"] = number(*result.bits_per_byte);
  if (result.repeated_names) json["repeated_names"] = number(*result.repeated_names);
  if (result.elsewhere) json["elsewhere"] = number(*result.elsewhere);
  if (const auto bits = result.bits_per_byte_of(result.repeated_names))
    json["repeated_names_bits_per_byte"] = number(*bits);
  if (const auto bits = result.bits_per_byte_of(result.elsewhere)) json["elsewhere_bits_per_byte"] = number(*bits);
  return json;
}

double finite_or_nan(const Json& json) { return json.is_number() ? json.get<double>() : std::nan(""); }

EvalResult eval_from(const Json& json) {
  EvalResult result{.loss = finite_or_nan(json.at("loss"))};
  const auto take = [&](const char* key, std::optional<double>& field) {
    if (json.contains(key)) field = finite_or_nan(json.at(key));
  };
  take("bits_per_byte", result.bits_per_byte);
  take("repeated_names", result.repeated_names);
  take("elsewhere", result.elsewhere);
  if (json.contains("window_losses")) {
    for (const auto& loss : json.at("window_losses")) result.window_losses.push_back(finite_or_nan(loss));
  }
  return result;
}

BuildInfo build_from(const Json& json) {
  return {.version = json.at("version"),
          .commit = json.at("commit"),
          .compiler = json.at("compiler"),
          .libtorch = json.at("libtorch"),
          .build_type = json.at("build_type")};
}

RunStatus status_from(const std::string& name) {
  for (const auto& [status, spelling] : names(RunStatus{})) {
    if (spelling == name) return status;
  }
  throw std::runtime_error("status '" + name + "' is none of " + all_names<RunStatus>());
}

}  // namespace

int64_t without_embeddings(const std::map<std::string, int64_t>& parameters_by_part) {
  int64_t sum = 0;
  for (const auto& [part, number] : parameters_by_part) {
    if (part != "embedding" && part != "position" && part != "head") sum += number;
  }
  return sum;
}

std::string RunRecord::built_with() const {
  if (build.version.empty()) return "";
  return fmt::format("blockzoo {} (commit {}, {}, {}, LibTorch {})", build.version, build.commit, build.compiler,
                     build.build_type, build.libtorch);
}

RunRecord record_from_json(const std::string& text) {
  const auto json = Json::parse(text);
  const auto schema = json.at("schema").get<int64_t>();
  if (schema != RunRecord::kSchema)
    throw std::runtime_error("schema " + std::to_string(schema) + "; this program reads " +
                             std::to_string(RunRecord::kSchema));
  RunRecord record;
  record.status = status_from(json.at("status"));
  record.message = json.at("message");
  if (json.contains("alarms")) record.alarms = json.at("alarms").get<std::vector<std::string>>();
  record.identity = json.at("identity");
  record.seed = json.at("seed");
  record.step = json.at("step");
  record.steps = json.at("steps");
  record.tokens = json.at("tokens");
  record.parameters = json.at("parameters");
  record.parameters_by_part = json.at("parameters_by_part").get<std::map<std::string, int64_t>>();
  if (json.contains("training_flops")) record.training_flops = finite_or_nan(json.at("training_flops"));
  record.device = json.at("device");
  record.machine = json.value("machine", "");
  if (json.contains("build")) record.build = build_from(json.at("build"));
  record.kernels = json.value("kernels", "");
  record.threads = json.at("threads");
  record.started = json.at("started");
  record.train_s = json.at("train_s");
  record.tokenizer = json.value("tokenizer", "");
  record.text_hash = json.value("text_hash", "");
  record.data_hash = json.at("data_hash");
  record.batches_hash = json.at("batches_hash");
  record.validation_hash = json.at("validation_hash");
  if (json.contains("entropy_bound_nats")) record.entropy_bound_nats = json.at("entropy_bound_nats").get<double>();
  record.first_loss = finite_or_nan(json.at("first_loss"));
  for (const auto& [layer, norm] : json.at("first_gradient_norms").items())
    record.first_gradient_norms[layer] = finite_or_nan(norm);
  if (json.contains("validation")) record.validation = eval_from(json.at("validation"));
  if (json.contains("best_validation")) record.best_validation = eval_from(json.at("best_validation"));
  record.best_step = json.at("best_step");
  if (json.contains("sample")) {
    const auto& sample = json.at("sample");
    record.sample = Sample{sample.at("prompt"), sample.at("text"), sample.at("tokens")};
  }
  return record;
}

std::string to_json(const RunRecord& record) {
  Json json = {{"schema", RunRecord::kSchema},
               {"status", name_of(record.status)},
               {"message", record.message},
               {"alarms", record.alarms},
               {"identity", record.identity},
               {"seed", record.seed},
               {"step", record.step},
               {"steps", record.steps},
               {"tokens", record.tokens},
               {"parameters", record.parameters},
               {"parameters_by_part", record.parameters_by_part},
               {"parameters_without_embeddings", without_embeddings(record.parameters_by_part)},
               {"device", record.device},
               {"machine", record.machine},
               {"kernels", record.kernels},
               {"threads", record.threads},
               {"started", record.started},
               {"train_s", record.train_s},
               {"tokens_per_s", record.tokens_per_s()},
               {"tokenizer", record.tokenizer},
               {"text_hash", record.text_hash},
               {"data_hash", record.data_hash},
               {"batches_hash", record.batches_hash},
               {"validation_hash", record.validation_hash},
               {"first_loss", number(record.first_loss)},
               {"first_gradient_norms", Json::object()},
               {"best_step", record.best_step}};
  if (record.training_flops) {
    json["training_flops"] = number(*record.training_flops);
    json["training_flops_convention"] = kTrainingFlopsConvention;
  }
  if (record.entropy_bound_nats) json["entropy_bound_nats"] = *record.entropy_bound_nats;
  for (const auto& [layer, norm] : record.first_gradient_norms) json["first_gradient_norms"][layer] = number(norm);
  if (record.validation) {
    json["validation"] = to_object(*record.validation);
    json["validation"]["window_losses"] = Json::array();
    for (const double loss : record.validation->window_losses)
      json["validation"]["window_losses"].push_back(number(loss));
  }
  if (const auto& sample = record.sample)
    json["sample"] = {{"prompt", sample->prompt}, {"text", sample->text}, {"tokens", sample->tokens}};
  if (record.best_validation) json["best_validation"] = to_object(*record.best_validation);
  const auto& build = record.build;
  json["build"] = {{"version", build.version},
                   {"commit", build.commit},
                   {"compiler", build.compiler},
                   {"libtorch", build.libtorch},
                   {"build_type", build.build_type}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunRecord read_record(const std::filesystem::path& run_folder) {
  const auto path = run_folder / "run.json";
  const auto text = read_file(path);
  try {
    return record_from_json(text);
  } catch (const std::exception& error) {
    throw std::runtime_error(path.string() + " is not a run's record: " + error.what());
  }
}

void write_record(const std::filesystem::path& run_folder, const RunRecord& record) {
  write_file(run_folder / "run.json", to_json(record));
}

std::string step_line(const StepResult& result, int64_t tokens, double train_s) {
  Json json = {{"step", result.step},
               {"tokens", tokens},
               {"loss", number(result.loss)},
               {"lr", result.lr},
               {"gradient_norm", number(result.gradient_norm)}};
  for (const auto& [layer, norm] : result.gradient_norms) json["gradient_norms"][layer] = number(norm);
  if (result.z != 0) json["z"] = number(result.z);
  if (!result.finite) json["finite"] = false;
  json["seconds"] = train_s;
  json["tokens_per_s"] = train_s > 0 ? static_cast<double>(tokens) / train_s : 0;
  return json.dump();
}

std::string validation_line(int64_t step, const EvalResult& result) {
  return Json{{"step", step}, {"validation", to_object(result)}}.dump();
}

std::string utc_now() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace blockzoo
