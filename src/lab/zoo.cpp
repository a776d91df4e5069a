#include "blockzoo/lab/zoo.h"

#include <algorithm>

#include "blockzoo/core/embedded.h"
#include "core/document.h"
#include "core/reader.h"

namespace blockzoo {

ZooModel zoo_model(const std::string& name, const std::string& scale) {
  ZooModel model;
  model.name = bare_name(name) + (scale.empty() ? "" : " x " + scale);
  const auto document = with_bases(open_document({}, name)).back();
  model.about = document.about.value_or(About{});
  model.decay_is_told = !document.about || document.tree.deepest("train.optimizer.weight_decay").is_scalar();
  model.config = load_run_config(name, {}, scale);
  model.count = count_parameters(model.config.model);
  return model;
}

const std::vector<ZooModel>& zoo() {
  static const auto all = [] {
    std::vector<ZooModel> models;
    for (const auto& file : embedded_configs()) {
      if (!file.name.starts_with("models/")) continue;
      const auto tree = parse_yaml(file.text, std::string(file.name));
      if (tree.find("about") != nullptr) models.push_back(zoo_model(bare_name(file.name)));
    }
    return models;
  }();
  return all;
}

}  // namespace blockzoo
