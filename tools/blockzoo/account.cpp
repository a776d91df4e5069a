#include "blockzoo/lab/account.h"

#include <iostream>
#include <map>
#include <memory>

#include "blockzoo/core/config_error.h"
#include "blockzoo/core/names.h"
#include "blockzoo/lab/account_text.h"
#include "blockzoo/lab/advice.h"
#include "checks.h"
#include "commands.h"

namespace blockzoo {
namespace {

struct AccountArguments {
  std::string file;
  std::string scale;
  AccountQuery query;
  AccountView view;
  std::string device;
  std::string sweep;
  bool advise = false;
  bool json = false;
};

/// An option whose values are the spellings of an enum.
template <NamedEnum E>
void add_choice(CLI::App& command, const std::string& name, E& value, const std::string& help) {
  std::map<std::string, E> values;
  for (const auto& [choice, spelling] : names(E{})) values.emplace(spelling, choice);
  const auto choose = [&value, values](const std::string& spelling) { value = values.at(spelling); };
  command.add_option_function<std::string>(name, choose, help + ": " + all_names<E>())->check(CLI::IsMember(values));
}

std::vector<Account> sweep(const ModelConfig& model, const AccountArguments& arguments) {
  const auto equals = arguments.sweep.find('=');
  const auto key = arguments.sweep.substr(0, equals);
  if (equals == std::string::npos || (key != "context" && key != "batch"))
    throw ConfigError(
        Problem{{}, "--sweep", "is '" + arguments.sweep + "'; give context=1024..131072 or batch=1,8,64"});
  std::vector<Account> accounts;
  for (const auto value : sweep_values(arguments.sweep.substr(equals + 1))) {
    auto query = arguments.query;
    if (key == "context") query.context = value;
    if (key == "batch") query.batch = value;
    accounts.push_back(account_of(model, query));
  }
  return accounts;
}

void show(AccountArguments& arguments) {
  if (!arguments.device.empty()) arguments.view.device = device_sheet(arguments.device);
  if (arguments.view.steps > 0 && !arguments.view.device)
    throw ConfigError(Problem{{}, "--steps", "needs --device, whose peak the time follows from"});
  if (arguments.query.kept != KeptActivations::kTextbook && arguments.query.logit_copies != 1)
    throw ConfigError(Problem{{}, "--logit-copies", "has no effect with --kept fused or reference, which follow them"});
  const auto model = zoo_model(arguments.file, arguments.scale);
  if (arguments.advise) {
    std::cout << (arguments.json ? advice_json(model, zoo()) : model.name + advice_text(model, zoo()));
  } else if (!arguments.sweep.empty()) {
    const auto accounts = sweep(model.config.model, arguments);
    std::cout << (arguments.json ? account_table_json(accounts, arguments.view)
                                 : account_table(accounts, arguments.view));
  } else {
    const auto account = account_of(model.config.model, arguments.query);
    std::cout << (arguments.json ? account_json(model.name, account, arguments.view)
                                 : account_text(model.name, account, arguments.view));
  }
}

}  // namespace

void add_account_command(CLI::App& app) {
  auto arguments = std::make_shared<AccountArguments>();
  auto& [file, scale, query, view, device, swept, advise, json] = *arguments;
  auto* command =
      app.add_subcommand("account", "Say what a model costs: parameters, FLOPs, memory, cache, least times");
  command->add_option("file", file, "run file, or a model's name such as llama3-8b")->required();
  command->add_option("--scale", scale, "made smaller: 1/16, 0.25 or tiny");
  command->add_option("--batch", query.batch, "sequences (1)")->check(above_zero);
  command->add_option("--context", query.context, "tokens of a sequence (the model's context)")->check(above_zero);
  add_choice(*command, "--precision", query.precision, "of matrix products, activations and cache");
  add_choice(*command, "--optimizer", query.optimizer, "whose moments are kept");
  command->add_flag_callback(
      "--visible-pairs", [arguments] { arguments->query.pairs = AttentionPairs::kVisible; },
      "count only the pairs of query and key that causal mask and window let through; all otherwise");
  add_choice(
      *command, "--kept", query.kept,
      "what training keeps: by a formula, or what an update of this program has in memory at most on the CPU, with "
      "train.kernels fast (fused) or reference");
  command
      ->add_option("--logit-copies", query.logit_copies,
                   "arrays as large as the logits that training keeps by the textbook (1)")
      ->check(zero_or_more);
  command->add_option("--device", device, "for the least times: v100, a100-80gb, h100, ...");
  command->add_option("--memory", view.memory_gb, "GB (GiB with --gib) for the largest batch; the device's")
      ->check(above_zero);
  command->add_flag("--gib", view.binary_units, "units of 2^30 bytes instead of 1e9");
  command->add_option("--steps", view.steps, "updates, for the time of a training")->check(above_zero);
  command->add_option("--mfu", view.utilisation, "share of the peak that training reaches (0.5)")
      ->check(number_check("above 0 and at most 1", [](double value) { return value > 0 && value <= 1; }));
  auto* sweep_option = command->add_option("--sweep", swept, "a table: context=1024..131072 (doubling), batch=1,8,64");
  command->add_flag("--advise", advise, "compare the proportions with those of published models")
      ->excludes(sweep_option);
  command->add_flag("--json", json, "as JSON");
  command->footer(
      "Example: blockzoo account llama3-8b --precision bfloat16 --device h100 --sweep context=1024..131072");
  command->callback([arguments] { show(*arguments); });
}

}  // namespace blockzoo
