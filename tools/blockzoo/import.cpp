#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <memory>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/hugging_face.h"
#include "blockzoo/hub/safetensors.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/train/run_config.h"
#include "commands.h"
#include "model_source.h"

namespace blockzoo {
namespace {

namespace fs = std::filesystem;

struct ImportArguments {
  std::string folder;
  std::string to;
};

void import_model(const ImportArguments& arguments) {
  const fs::path file = arguments.to;
  const auto weights = fs::path(file).replace_extension(".safetensors");
  if (file.extension() != ".yaml") throw std::runtime_error("--to is " + arguments.to + "; its name must end in .yaml");
  for (const auto& path : {file, weights}) {
    if (fs::exists(path)) throw std::runtime_error(path.string() + " is there already; name another file");
  }
  if (!is_hub_folder(arguments.folder)) throw std::runtime_error(arguments.folder + " has no config.json");
  const auto model = load_model({.model = arguments.folder, .sets = {}, .weights = ""});
  for (const auto& note : model.notes) std::cout << note << "\n";
  const auto& [config, tensors] = model.loaded;
  save_safetensors(weights, {tensors.begin(), tensors.end()}, {{"format", "pt"}});
  write_file(file, run_file(config, WeightsStart{.path = weights.filename()}));
  std::cout << fmt::format("{} and {}: {} parameters of {}\n", file.string(), weights.string(),
                           count_parameters(config).total, model.told);
}

}  // namespace

void add_import_command(CLI::App& app) {
  auto arguments = std::make_shared<ImportArguments>();
  auto* command = app.add_subcommand("import", "Turn a Hugging Face folder into a run file and its weights");
  command->add_option("folder", arguments->folder, "folder with config.json and safetensors files")->required();
  command->add_option("--to", arguments->to, "run file to write, such as model.yaml; model.safetensors goes beside it")
      ->required();
  command->footer("Example: blockzoo import SmolLM2-135M --to smol.yaml");
  command->callback([arguments] { import_model(*arguments); });
}

}  // namespace blockzoo
