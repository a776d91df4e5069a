#include "blockzoo/lab/run_history.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "blockzoo/hub/atomic_file.h"

namespace blockzoo {
namespace {

using Json = nlohmann::json;

double number(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? found->get<double>() : std::nan("");
}

void cut(LossCurve& curve, size_t size) {
  curve.steps.resize(size);
  for (auto* column : {&curve.tokens, &curve.seconds, &curve.loss}) column->resize(size);
}

/// How many points come before this step.
size_t before(const LossCurve& curve, int64_t step) {
  size_t size = curve.steps.size();
  while (size > 0 && curve.steps[size - 1] >= step) --size;
  return size;
}

class Reading {
 public:
  void take(const Json& line) {
    if (!line.is_object() || !line.contains("step") || !line["step"].is_number_integer()) return;
    const auto step = line["step"].get<int64_t>();
    if (line.contains("validation")) {
      take_validation(step, line["validation"]);
    } else if (line.contains("loss")) {
      take_step(step, line);
    }
  }

  RunHistory result() && { return std::move(history_); }

 private:
  void take_step(int64_t step, const Json& line) {
    auto& training = history_.training;
    const auto size = before(training, step);
    cut(training, size);
    cut(history_.validation, before(history_.validation, step));
    history_.gradient_norm.resize(size);
    training.steps.push_back(step);
    training.tokens.push_back(number(line, "tokens"));
    training.seconds.push_back(number(line, "seconds"));
    training.loss.push_back(number(line, "loss"));
    history_.gradient_norm.push_back(number(line, "gradient_norm"));
    if (const auto layers = line.find("gradient_norms"); layers != line.end() && layers->is_object()) {
      for (const auto& [layer, norm] : layers->items()) history_.layer_gradient_norms[layer];
    }
    for (auto& [layer, norms] : history_.layer_gradient_norms) {
      norms.resize(size, std::nan(""));
      const auto layers = line.find("gradient_norms");
      norms.push_back(layers == line.end() ? std::nan("") : number(*layers, layer.c_str()));
    }
  }

  void take_validation(int64_t step, const Json& result) {
    auto& validation = history_.validation;
    cut(validation, before(validation, step));
    validation.steps.push_back(step);
    validation.tokens.push_back(carried_on(history_.training.tokens, step));
    validation.seconds.push_back(carried_on(history_.training.seconds, step));
    validation.loss.push_back(result.is_object() ? number(result, "loss") : std::nan(""));
  }

  double carried_on(const std::vector<double>& column, int64_t step) const {
    if (column.empty()) return std::nan("");
    return column.back() * static_cast<double>(step) / static_cast<double>(history_.training.steps.back());
  }

  RunHistory history_;
};

}  // namespace

RunHistory read_history(const std::filesystem::path& run_folder) {
  const auto path = run_folder / "metrics.jsonl";
  if (!std::filesystem::exists(path)) return {};
  std::istringstream lines(read_file(path));
  Reading reading;
  for (std::string line; std::getline(lines, line);) {
    const auto json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_discarded()) reading.take(json);
  }
  return std::move(reading).result();
}

}  // namespace blockzoo
