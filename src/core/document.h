#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blockzoo/core/tree.h"

namespace blockzoo {

struct Document {
  Tree tree;
  std::filesystem::path folder;  // relative paths inside are seen from here
  std::string base;              // what its `base` key names; only with_bases takes that key out of the tree
};

/// The file `name` seen from `folder`. Where there is none, the config that the program carries under that name:
/// models/tiny.yaml, also written configs/models/tiny.yaml or, as the carried studies do, ../models/tiny.yaml.
/// Errors: ConfigError.
Document open_document(const std::filesystem::path& folder, const std::filesystem::path& name);

/// The document, and before it the file that its top-level `base` key names, and that one's base, to the first that has
/// none. Errors: ConfigError; also for a file without keys, a base that is no path, and more than eight bases.
std::vector<Document> with_bases(Document document);

/// What the assignments of --set say, as one tree; the later ones win. Errors: ConfigError.
Tree parse_assignments(const std::vector<std::string>& assignments);

}  // namespace blockzoo
