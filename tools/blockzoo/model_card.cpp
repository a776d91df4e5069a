#include "model_card.h"

#include <spdlog/fmt/fmt.h>

#include "blockzoo/core/build_info.h"
#include "blockzoo/core/tree.h"
#include "blockzoo/nn/model.h"

namespace blockzoo {
namespace {

std::string record_table(const RunRecord& record) {
  std::string text = "| | |\n| --- | --- |\n";
  const auto row = [&](const std::string& name, const std::string& value) {
    text += "| " + name + " | " + value + " |\n";
  };
  row("status", std::string(name_of(record.status)));
  row("steps", fmt::format("{} of {}", record.step, record.steps));
  row("tokens", std::to_string(record.tokens));
  row("parameters", std::to_string(record.parameters));
  row("seed", std::to_string(record.seed));
  if (record.validation) {
    row("validation loss, nats per token", fmt::format("{:.4f}", record.validation->loss));
    if (record.validation->bits_per_byte)
      row("bits per byte", fmt::format("{:.4f}", *record.validation->bits_per_byte));
  }
  row("identity", "`" + record.identity + "`");
  row("data", "`" + record.data_hash + "`");
  for (const auto& alarm : record.alarms) row("alarm", alarm);
  return text;
}

}  // namespace

std::string model_card(const SourcedModel& model, const std::string& title) {
  const auto& config = model.loaded.config;
  auto text = fmt::format("---\nlibrary_name: transformers\ntags: [blockzoo]\n---\n\n# {}\n\n", title);
  text += fmt::format(
      "A decoder-only transformer with {} parameters: {} layers of width {}, a vocabulary of {}, a context of {}. "
      "Exported by "
      "blockzoo {} ({}) from {}.\n\n",
      count_parameters(config).total, config.layers, config.width, config.vocabulary, config.context,
      build_info().version, build_info().commit, model.told);
  text +=
      "```python\nfrom transformers import AutoModelForCausalLM\n\nmodel = "
      "AutoModelForCausalLM.from_pretrained(\".\")\n```\n\n"
      "Where modeling_blockzoo.py lies beside the weights, that call needs trust_remote_code=True.\n\n";
  text += model.tokenizer.empty() ? "No tokenizer is known: the model reads the ids that it was trained on.\n"
                                  : "The tokenizer lies beside the weights (`AutoTokenizer`).\n";
  if (model.record) text += "\n## Training\n\n" + record_table(*model.record);
  if (model.run) text += "\n## Config\n\n```yaml\n" + write_yaml(to_document(*model.run)) + "```\n";
  return text;
}

}  // namespace blockzoo
