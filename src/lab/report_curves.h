#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "blockzoo/lab/study_folder.h"

namespace blockzoo {

/// Points that a curve of the report keeps, about.
constexpr size_t kCurvePoints = 500;

/// Null when the number is not finite.
nlohmann::ordered_json number_or_null(double value);

/// The curves of one arm at one point of the sweep over its seeds:
/// {logged, training: {steps, tokens, seconds, loss, gradient_norm}, validation: {steps, tokens, seconds, loss},
/// layers: {name: norms}}. `steps` and `tokens` are shared by the seeds; `seconds`, `loss` and `gradient_norm` hold a
/// list for each seed; layers are means over the seeds. All are as long as `steps`, with null where a seed has no
/// value. Where more than kCurvePoints were logged, the steps that stay are those of kept_points(). Six digits.
nlohmann::ordered_json curves_of(std::span<const RunTrace> seeds);

}  // namespace blockzoo
