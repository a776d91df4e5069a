#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace blockzoo {

/// A file that is part of the program, so that it works from any folder.
struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

/// Every YAML file under configs/, sorted by name, which is relative to there: "studies/norm_position.yaml".
const std::vector<EmbeddedFile>& embedded_configs();

/// The name of a config without folders and without .yaml: llama3-8b for configs/models/llama3-8b.yaml.
std::string bare_name(const std::filesystem::path& name);

/// The files under assets/report/, named "page.html", and the chart libraries: what a report is put together from.
const std::vector<EmbeddedFile>& embedded_page();

/// The files under assets/attention/, and what their page shares with a report.
const std::vector<EmbeddedFile>& embedded_attention_page();

/// The files under assets/hub/: Python that goes with an exported model, or checks one.
const std::vector<EmbeddedFile>& embedded_hub();

}  // namespace blockzoo
