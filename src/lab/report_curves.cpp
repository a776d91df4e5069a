#include "lab/report_curves.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "lab/thinning.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;
using Column = std::vector<double>;

double six_digits(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
  std::from_chars(text, end, value);
  return value;
}

std::vector<int64_t> steps_of_any(const std::vector<const LossCurve*>& curves) {
  std::set<int64_t> steps;
  for (const auto* curve : curves) steps.insert(curve->steps.begin(), curve->steps.end());
  return {steps.begin(), steps.end()};
}

/// One value for each of `steps`; NaN where the column has none.
Column aligned(const std::vector<int64_t>& steps, const std::vector<int64_t>& own_steps, const Column& column) {
  Column result(steps.size(), std::nan(""));
  for (size_t i = 0, own = 0; i < steps.size() && own < own_steps.size(); ++i) {
    if (steps[i] != own_steps[own]) continue;
    if (own < column.size()) result[i] = column[own];
    ++own;
  }
  return result;
}

/// The first value that there is at each point.
Column first_known(const std::vector<Column>& columns, size_t size) {
  Column result(size, std::nan(""));
  for (const auto& column : columns) {
    for (size_t i = 0; i < size; ++i) {
      if (std::isnan(result[i])) result[i] = column[i];
    }
  }
  return result;
}

Column mean_of_known(const std::vector<Column>& columns, size_t size) {
  Column result(size, std::nan(""));
  for (size_t i = 0; i < size; ++i) {
    double sum = 0;
    int count = 0;
    for (const auto& column : columns) {
      if (std::isnan(column[i])) continue;
      sum += column[i];
      ++count;
    }
    if (count > 0) result[i] = sum / count;
  }
  return result;
}

Json kept_of(const Column& column, const std::vector<size_t>& kept) {
  Json list = Json::array();
  for (const auto i : kept) list.push_back(number_or_null(six_digits(column[i])));
  return list;
}

Json kept_of(const std::vector<Column>& columns, const std::vector<size_t>& kept) {
  Json list = Json::array();
  for (const auto& column : columns) list.push_back(kept_of(column, kept));
  return list;
}

/// One loss of several seeds on the steps that any of them has.
class SharedSteps {
 public:
  explicit SharedSteps(std::vector<const LossCurve*> curves)
      : curves_(std::move(curves)), steps_(steps_of_any(curves_)) {}

  size_t size() const { return steps_.size(); }

  /// `columns`: one of each seed, beside its curve.
  std::vector<Column> align(const std::vector<const Column*>& columns) const {
    std::vector<Column> result;
    for (size_t i = 0; i < curves_.size(); ++i) result.push_back(aligned(steps_, curves_[i]->steps, *columns[i]));
    return result;
  }
  std::vector<Column> align(Column LossCurve::*member) const {
    std::vector<const Column*> columns;
    for (const auto* curve : curves_) columns.push_back(&(curve->*member));
    return align(columns);
  }

  Json to_json(const std::vector<size_t>& kept) const {
    Json steps = Json::array();
    for (const auto i : kept) steps.push_back(steps_[i]);
    return {{"steps", std::move(steps)},
            {"tokens", kept_of(first_known(align(&LossCurve::tokens), size()), kept)},
            {"seconds", kept_of(align(&LossCurve::seconds), kept)},
            {"loss", kept_of(align(&LossCurve::loss), kept)}};
  }

 private:
  std::vector<const LossCurve*> curves_;
  std::vector<int64_t> steps_;
};

Envelope envelope_of(const std::vector<Column>& columns) {
  std::vector<const Column*> pointers;
  for (const auto& column : columns) pointers.push_back(&column);
  return blockzoo::envelope_of(pointers);
}

std::set<std::string> layers_of_any(std::span<const RunTrace> seeds) {
  std::set<std::string> layers;
  for (const auto& seed : seeds) {
    for (const auto& [layer, norms] : seed.history.layer_gradient_norms) layers.insert(layer);
  }
  return layers;
}

}  // namespace

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json curves_of(std::span<const RunTrace> seeds) {
  std::vector<const LossCurve*> training, validation;
  std::vector<const Column*> norms;
  for (const auto& seed : seeds) {
    training.push_back(&seed.history.training);
    validation.push_back(&seed.history.validation);
    norms.push_back(&seed.history.gradient_norm);
  }
  const SharedSteps trained(training), validated(validation);
  const auto norm_columns = trained.align(norms);
  const auto kept = kept_points(
      trained.size(), {envelope_of(trained.align(&LossCurve::loss)), envelope_of(norm_columns)}, kCurvePoints);
  Json json = {{"logged", trained.size()}, {"training", trained.to_json(kept)}, {"layers", Json::object()}};
  json["training"]["gradient_norm"] = kept_of(norm_columns, kept);
  for (const auto& layer : layers_of_any(seeds)) {
    static const Column kNone;
    std::vector<const Column*> columns;
    for (const auto& seed : seeds) {
      const auto found = seed.history.layer_gradient_norms.find(layer);
      columns.push_back(found == seed.history.layer_gradient_norms.end() ? &kNone : &found->second);
    }
    json["layers"][layer] = kept_of(mean_of_known(trained.align(columns), trained.size()), kept);
  }
  const auto kept_validations =
      kept_points(validated.size(), {envelope_of(validated.align(&LossCurve::loss))}, kCurvePoints);
  json["validation"] = validated.to_json(kept_validations);
  return json;
}

}  // namespace blockzoo
