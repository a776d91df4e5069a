#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "blockzoo/core/embedded.h"
#include "blockzoo/core/names.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/hugging_face.h"
#include "blockzoo/hub/npy.h"
#include "checks.h"
#include "commands.h"
#include "model_card.h"
#include "model_source.h"

namespace blockzoo {
namespace {

namespace fs = std::filesystem;

struct ExportArguments {
  ModelSource source;
  std::string to;
  std::string dtype = "float32";
  double shard_gb = 5;
  bool stock_only = false;
  bool check = false;
};

constexpr int kNoTransformers = 77;  // exit code of check_export.py

at::ScalarType type_named(const std::string& name) {
  return name == "float16" ? at::kHalf : name == "bfloat16" ? at::kBFloat16 : at::kFloat;
}

std::string in_quotes(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// A folder of temporary files that goes away.
class ScratchFolder {
 public:
  ScratchFolder() {
    auto name = (fs::temp_directory_path() / "blockzoo_check_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder " + name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// Loads the folder with transformers, where python3 has it. Returns false when that failed.
bool python_agrees(const fs::path& folder, const ExportReport& report) {
  const ScratchFolder scratch;
  for (const auto& file : embedded_hub()) write_file(scratch / std::string(file.name), file.text);
  std::string ids;
  for (const auto id : report.prompt) ids += std::to_string(id) + " ";
  write_file(scratch / "ids.txt", ids);
  save_npy(scratch / "logits.npy", report.logits);
  const auto command = "python3 " + in_quotes(scratch / "check_export.py") + " " + in_quotes(folder) + " " +
                       in_quotes(scratch / "ids.txt") + " " + in_quotes(scratch / "logits.npy");
  std::cout << std::flush;
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kNoTransformers || code == 127) {
    std::cout << "not checked in Python: that needs python3 with transformers\n";
    return true;
  }
  return code == 0;
}

void export_model(const ExportArguments& arguments) {
  const auto model = load_model(arguments.source);
  for (const auto& note : model.notes) std::cout << note << "\n";
  const fs::path folder = arguments.to;
  const auto title = fs::absolute(folder).lexically_normal();
  auto files = model.tokenizer;
  files["README.md"] = model_card(model, (title.filename().empty() ? title.parent_path() : title).filename());
  const auto report = export_hub_model(model.loaded, {.folder = folder,
                                                      .dtype = type_named(arguments.dtype),
                                                      .shard_bytes = static_cast<int64_t>(arguments.shard_gb * 1e9),
                                                      .stock_only = arguments.stock_only,
                                                      .files = std::move(files),
                                                      .special_ids = model.special_ids});
  std::cout << fmt::format("{}: {} in {}, read back: relative error of the logits over {} tokens {:.1e}\n",
                           folder.string(), report.class_name, arguments.dtype, report.tokens, report.relative_error);
  if (!report.not_stock.empty())
    std::cout << "loads with trust_remote_code=True, since no class of transformers holds it: " << report.not_stock
              << "\n";
  bool good = report.relative_error <= kMostRelativeError;
  if (!good)
    std::cerr << fmt::format("error: {} reads back to another model: relative error {:.1e}, allowed {:.0e}\n",
                             folder.string(), report.relative_error, kMostRelativeError);
  if (arguments.check && !python_agrees(fs::absolute(folder), report)) {
    std::cerr << "error: " << folder.string() << " is another model in transformers\n";
    good = false;
  }
  if (!good) throw ExitWith{1};
}

}  // namespace

void add_export_command(CLI::App& app) {
  auto arguments = std::make_shared<ExportArguments>();
  auto* command = app.add_subcommand("export", "Write a folder that Hugging Face transformers loads");
  command->add_option("model", arguments->source.model, kModelHelp)->required();
  command->add_option("--to", arguments->to, "folder to write; it must not be there, or be empty")->required();
  add_source_options(*command, arguments->source);
  command->add_option("--dtype", arguments->dtype, "how weights are stored: float32 (usual), bfloat16, float16")
      ->check(CLI::IsMember({"float32", "bfloat16", "float16"}));
  command->add_option("--shard-gb", arguments->shard_gb, "largest weight file, in 1e9 bytes (5)")->check(above_zero);
  command->add_flag("--stock-only", arguments->stock_only,
                    "refuse a model that no class of transformers holds exactly, and name the field");
  command->add_flag("--check", arguments->check, "load the folder in python3 too, where that has transformers");
  command->footer("Example: blockzoo export runs/tiny --to hub/tiny --check");
  command->callback([arguments] { export_model(*arguments); });
}

}  // namespace blockzoo
