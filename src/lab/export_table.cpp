#include "blockzoo/lab/export_table.h"

#include <map>

#include "blockzoo/hub/hugging_face.h"
#include "lab/table_text.h"

namespace blockzoo {
namespace {

std::string in_code(const std::string& word) { return "`" + word + "`"; }

}  // namespace

std::string export_table(const std::vector<ZooModel>& models) {
  std::map<std::string, std::string> held;  // by class
  for (const auto& model : models) {
    auto& line = held[export_class(model.config.model).name];
    line += (line.empty() ? "" : ", ") + in_code(model.name);
  }
  auto out = markdown_row({"class", "models of the zoo that export to it"}) + markdown_row({"---", "---"});
  for (const auto& name : hub_class_names())
    out += markdown_row({in_code(name), held[name].empty() ? "-" : held[name]});
  return out;
}

std::string export_reasons(const std::vector<ZooModel>& models) {
  auto out = markdown_row({"with the modelling file", "because no class of transformers holds it"}) +
             markdown_row({"---", "---"});
  for (const auto& model : models) {
    const auto [name, not_stock] = export_class(model.config.model);
    if (!not_stock.empty()) out += markdown_row({in_code(model.name), not_stock});
  }
  return out;
}

}  // namespace blockzoo
