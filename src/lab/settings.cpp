#include "blockzoo/lab/settings.h"

#include <spdlog/fmt/fmt.h>

namespace blockzoo {

std::string Setting::title() const {
  return fmt::format("{}, seed{} {}", run->setting(), seeds.size() == 1 ? "" : "s", fmt::join(seeds, ", "));
}

std::vector<Setting> settings_of(const Study& study) {
  std::vector<Setting> settings;
  for (const auto& run : study.runs) {
    const bool fresh = settings.empty() || settings.back().run->folder.parent_path() != run.folder.parent_path();
    if (fresh) settings.push_back({&run, {}});
    settings.back().seeds.push_back(run.seed);
  }
  return settings;
}

}  // namespace blockzoo
