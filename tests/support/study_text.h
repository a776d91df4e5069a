#pragma once

#include <string>
#include <vector>

#include "blockzoo/core/config_error.h"
#include "blockzoo/lab/study.h"
#include "support/temporary_folder.h"

namespace blockzoo {

inline Study study_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  const TemporaryFolder folder;
  return load_study(folder.write("s.yaml", text), sets);
}

/// The message of the ConfigError that loading throws.
inline std::string study_refusal(const std::string& text, const std::vector<std::string>& sets = {}) {
  try {
    study_of(text, sets);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace blockzoo
