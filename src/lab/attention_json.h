#pragma once

#include <nlohmann/json_fwd.hpp>

#include "blockzoo/lab/attention_report.h"

namespace blockzoo {

/// {schema, model, ids, tokens, heads: [{layer, head, entropy_nats, ...}], induction}, without weights.
nlohmann::ordered_json attention_figures(const AttentionReport& report);

/// One line of JSON that is valid UTF-8.
std::string attention_text(const nlohmann::ordered_json& json);

}  // namespace blockzoo
