#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "blockzoo/core/fields.h"

namespace blockzoo {

// A schedule is a factor on the learning rate for update s = 0 .. n - 1. The first `warmup` updates rise linearly,
// (s + 1) / warmup, so the first one is not zero and the last one is the full rate. After them, with
// p = (s + 1 - warmup) / (n - warmup), each kind goes its own way; p is 1 at the last update.

/// The full rate throughout.
struct ConstantSchedule {
  static constexpr std::string_view kind = "constant";
  static constexpr std::string_view summary = "1";
  static constexpr std::string_view source = "";

  int64_t warmup = 0;

  static void fields(auto& self, auto& visit) {
    visit("warmup", self.warmup, not_negative, "updates of linear warm-up");
  }
  double after_warmup(double progress, int64_t step, int64_t steps) const;
};

struct LinearSchedule {
  static constexpr std::string_view kind = "linear";
  static constexpr std::string_view summary = "1 - (1 - min_ratio) p";
  static constexpr std::string_view source = "Devlin et al. 2018, arXiv:1810.04805";

  int64_t warmup = 0;
  double min_ratio = 0;

  static void fields(auto& self, auto& visit) {
    visit("warmup", self.warmup, not_negative, "updates of linear warm-up");
    visit("min_ratio", self.min_ratio, dropout_rate, "last rate / full rate");
  }
  double after_warmup(double progress, int64_t step, int64_t steps) const;
};

struct CosineSchedule {
  static constexpr std::string_view kind = "cosine";
  static constexpr std::string_view summary = "min_ratio + (1 - min_ratio) (1 + cos(pi p)) / 2";
  static constexpr std::string_view source = "Loshchilov and Hutter 2016, arXiv:1608.03983";

  int64_t warmup = 0;
  double min_ratio = 0.1;

  static void fields(auto& self, auto& visit) {
    visit("warmup", self.warmup, not_negative, "updates of linear warm-up");
    visit("min_ratio", self.min_ratio, dropout_rate, "last rate / full rate");
  }
  double after_warmup(double progress, int64_t step, int64_t steps) const;
};

/// Warm-up, stable, decay. The decay takes the last ceil(decay_fraction * n) updates.
struct WsdSchedule {
  static constexpr std::string_view kind = "wsd";
  static constexpr std::string_view summary = "1, then linear to min_ratio over the last decay_fraction of all updates";
  static constexpr std::string_view source = "Hu et al. 2024, arXiv:2404.06395";

  int64_t warmup = 0;
  double decay_fraction = 0.2;
  double min_ratio = 0;

  static void fields(auto& self, auto& visit) {
    visit("warmup", self.warmup, not_negative, "updates of linear warm-up");
    visit("decay_fraction", self.decay_fraction, fraction, "share of all updates that decay");
    visit("min_ratio", self.min_ratio, dropout_rate, "last rate / full rate");
  }
  double after_warmup(double progress, int64_t step, int64_t steps) const;
};

/// sqrt(w / (s + 1)) with w = max(warmup, 1).
struct InverseSqrtSchedule {
  static constexpr std::string_view kind = "inverse_sqrt";
  static constexpr std::string_view summary = "sqrt(max(warmup, 1) / (s + 1))";
  static constexpr std::string_view source = "Vaswani et al. 2017, arXiv:1706.03762";

  int64_t warmup = 0;

  static void fields(auto& self, auto& visit) {
    visit("warmup", self.warmup, not_negative, "updates of linear warm-up");
  }
  double after_warmup(double progress, int64_t step, int64_t steps) const;
};

/// Every schedule; the first is the default.
using ScheduleConfig = std::variant<CosineSchedule, ConstantSchedule, LinearSchedule, WsdSchedule, InverseSqrtSchedule>;

/// The factor for update `step` (from 0) of `steps`.
double rate_factor(const ScheduleConfig& schedule, int64_t step, int64_t steps);

int64_t warmup_of(const ScheduleConfig& schedule);

}  // namespace blockzoo
