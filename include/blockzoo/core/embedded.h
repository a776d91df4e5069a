#pragma once

#include <string_view>
#include <vector>

namespace blockzoo {

/// A file of the source tree's configs/ that is part of the program, so that it works from any folder.
struct EmbeddedFile {
  std::string_view name;  // relative to configs/: "studies/norm_position.yaml"
  std::string_view text;
};

/// Every YAML file under configs/, sorted by name.
const std::vector<EmbeddedFile>& embedded_configs();

}  // namespace blockzoo
