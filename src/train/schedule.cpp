#include "blockzoo/train/schedule.h"

#include <cmath>
#include <numbers>

namespace blockzoo {

double ConstantSchedule::after_warmup(double, int64_t, int64_t) const { return 1; }

double LinearSchedule::after_warmup(double progress, int64_t, int64_t) const { return 1 - (1 - min_ratio) * progress; }

double CosineSchedule::after_warmup(double progress, int64_t, int64_t) const {
  return min_ratio + (1 - min_ratio) * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

double WsdSchedule::after_warmup(double, int64_t step, int64_t steps) const {
  const auto decay = static_cast<int64_t>(std::ceil(decay_fraction * static_cast<double>(steps)));
  const auto decayed = static_cast<double>(step + 1 - (steps - decay)) / static_cast<double>(decay);
  return 1 - (1 - min_ratio) * std::max(decayed, 0.0);
}

double InverseSqrtSchedule::after_warmup(double, int64_t step, int64_t) const {
  return std::sqrt(static_cast<double>(std::max<int64_t>(warmup, 1)) / static_cast<double>(step + 1));
}

int64_t warmup_of(const ScheduleConfig& schedule) {
  return std::visit([](const auto& kind) { return kind.warmup; }, schedule);
}

double rate_factor(const ScheduleConfig& schedule, int64_t step, int64_t steps) {
  const auto warmup = warmup_of(schedule);
  if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup);
  const auto progress = static_cast<double>(step + 1 - warmup) / static_cast<double>(steps - warmup);
  return std::visit([&](const auto& kind) { return kind.after_warmup(progress, step, steps); }, schedule);
}

}  // namespace blockzoo
