#include "infer/prompt_check.h"

#include <spdlog/fmt/fmt.h>

#include <stdexcept>

namespace blockzoo {

void check_prompt(const std::vector<int64_t>& ids, std::string_view name, const ModelConfig& config) {
  const auto refuse = [&](const std::string& why) { throw std::runtime_error(fmt::format("{} {}", name, why)); };
  if (ids.empty()) refuse("is empty; the model needs a token to begin with");
  if (std::ssize(ids) > config.context)
    refuse(fmt::format("has {} tokens, but the model's context is {}", ids.size(), config.context));
  for (const auto id : ids)
    if (id < 0 || id >= config.vocabulary)
      refuse(fmt::format("has the id {}; the model's ids run from 0 to {}", id, config.vocabulary - 1));
}

}  // namespace blockzoo
