#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blockzoo/core/about.h"
#include "blockzoo/core/tree.h"

namespace blockzoo {

struct Document {
  Tree tree;
  std::filesystem::path folder;  // relative paths inside are seen from here

  // Only with_bases takes these keys out of the tree.
  std::string base = {};                      // the config that the tree is laid over
  std::optional<Tree> scale = std::nullopt;   // how much smaller the base's model is made before that
  std::optional<About> about = std::nullopt;  // the published model that the document stands for
};

/// The file `name` seen from `folder`. Where there is none, the config that the program carries under that name:
/// models/tiny.yaml, also written configs/models/tiny.yaml or, as the carried studies do, ../models/tiny.yaml; models
/// are found by their bare name too, as in llama3-8b.
/// Errors: ConfigError.
Document open_document(const std::filesystem::path& folder, const std::filesystem::path& name);

/// A document that says `base: name` and `scale: scale`, as --scale does.
Document document_over(const std::string& name, const std::string& scale);

/// The document, and before it the file that its top-level `base` key names, and that one's base, to the first that has
/// none. Errors: ConfigError; also for a file without keys, a base that is no path, a scale without a base, a wrong
/// `about` section, and more than eight bases.
std::vector<Document> with_bases(Document document);

/// What the assignments of --set say, as one tree; the later ones win. Errors: ConfigError.
Tree parse_assignments(const std::vector<std::string>& assignments);

}  // namespace blockzoo
