#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "blockzoo/core/fields.h"
#include "blockzoo/core/names.h"

namespace blockzoo {

/// How the number of parameters of a published model is known.
enum class TotalStatus { kExact, kComputed };

constexpr auto names(TotalStatus) {
  using enum TotalStatus;
  return std::to_array<std::pair<TotalStatus, std::string_view>>({{kExact, "exact"}, {kComputed, "computed"}});
}

/// The section `about:` of a config: which published model it stands for. It decides nothing in a run.
struct About {
  std::string name;
  std::optional<int64_t> year;
  std::string organisation;
  std::string source;
  std::optional<int64_t> parameters;
  TotalStatus status = TotalStatus::kComputed;
  std::string missing;
  int64_t difference = 0;
  std::string note;
  std::string unconfirmed;

  static void fields(auto& self, auto& visit) {
    visit("name", self.name, "as its makers write it");
    visit("year", self.year, positive, "of the first release");
    visit("organisation", self.organisation, "who made it");
    visit("source", self.source, "authors, year and arXiv number");
    visit("parameters", self.parameters, positive, "its parameters, each counted once");
    visit("status", self.status, "exact: published or measured by others; computed: from its published sizes only");
    visit("missing", self.missing, "what the published model has and this config has not");
    visit("difference", self.difference, "parameters of this config beyond `parameters`; below 0 for parts that miss");
    visit("note", self.note, "what else is to be known about the number");
    visit("unconfirmed", self.unconfirmed, "settings for which no source was read");
  }
};

}  // namespace blockzoo
