#include <fstream>

#include "blockzoo/hub/safetensors.h"
#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/model.h"
#include "support/near.h"
#include "support/program.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr auto kModel = "model: {vocabulary: 11, width: 8, layers: 2, context: 6, block: {attention: {heads: 2}}}\n";

/// A folder with model.yaml, its weights and two sequences of ids.
struct LogitsFolder {
  LogitsFolder() {
    std::ofstream(folder / "model.yaml") << kModel;
    std::ofstream(folder / "ids.txt") << "1 2 3 4\n\n 10\t0 5 5\n";
    model = Model(load_model_config(folder / "model.yaml"));
    model->init_parameters(4);
    save_weights(*model, folder / "w.safetensors");
  }
  std::vector<std::string> arguments() const {
    return {"logits", "--model", "model.yaml", "--weights", "w.safetensors", "--tokens", "ids.txt", "--out", "out.npy"};
  }
  TemporaryFolder folder;
  Model model{nullptr};
};

}  // namespace

TEST_CASE("blockzoo logits writes float32 [sequences, T, V] that equal the model's", "[program][torch]") {
  LogitsFolder made;
  Program program(made.folder.path(), made.arguments());
  REQUIRE(program.wait() == 0);
  const auto file = read_file(made.folder / "out.npy");
  const auto end = file.find('\n');
  CHECK_THAT(file.substr(0, end),
             ContainsSubstring("'<f4'") && ContainsSubstring("'fortran_order': False") && ContainsSubstring("(2,4,11"));
  auto data = file.substr(end + 1);
  REQUIRE(data.size() == 2 * 4 * 11 * sizeof(float));
  const auto written = at::from_blob(data.data(), {2, 4, 11}, at::kFloat);
  const at::NoGradGuard no_grad;
  made.model->eval();
  check_near("logits", written, made.model->forward(at::tensor({1, 2, 3, 4, 10, 0, 5, 5}, at::kLong).view({2, 4})),
             tolerance(at::kFloat));
}

TEST_CASE("The model may come from a run file with a base, and from --set", "[program][torch]") {
  LogitsFolder made;
  made.folder.write("run.yaml", "base: wide.yaml\nmodel: {layers: 2, context: 6, block: {attention: {heads: 2}}}\n");
  made.folder.write("wide.yaml", "model: {vocabulary: 11, width: 16, layers: 9}\n");
  auto arguments = made.arguments();
  arguments[2] = "run.yaml";
  arguments.insert(arguments.end(), {"--set", "model.width=8"});
  CHECK(Program(made.folder.path(), arguments).wait() == 0);
  arguments.back() = "train.steps=8";
  Program wrong(made.folder.path(), arguments);
  CHECK(wrong.wait() == 2);
  CHECK_THAT(wrong.error(), ContainsSubstring("--set train.steps=8: train: is no part of a model"));
}

TEST_CASE("Missing, unexpected and misshapen tensors are refused by name, all at once", "[program][error][torch]") {
  LogitsFolder made;
  NamedTensors tensors;
  for (const auto& parameter : made.model->named_parameters()) {
    if (parameter.key() == "head.weight") continue;
    tensors.emplace_back(parameter.key(),
                         parameter.key() == "final_norm.gain" ? at::ones({9}) : parameter.value().detach());
  }
  tensors.emplace_back("stranger", at::ones({1}));
  save_safetensors(made.folder / "w.safetensors", tensors);
  Program program(made.folder.path(), made.arguments());
  CHECK(program.wait() == 1);
  CHECK_THAT(program.error(),
             ContainsSubstring("head.weight") && ContainsSubstring("final_norm.gain") && ContainsSubstring("stranger"));
  CHECK_FALSE(std::filesystem::exists(made.folder / "out.npy"));
}

TEST_CASE("Ids that are no ids, of unequal length or too many are refused with their line", "[program][error][torch]") {
  LogitsFolder made;
  const auto refusal = [&](const std::string& ids) {
    std::ofstream(made.folder / "ids.txt") << ids;
    Program program(made.folder.path(), made.arguments());
    CHECK(program.wait() == 1);
    return program.error();
  };
  CHECK_THAT(refusal("1 2\n3 11\n"), ContainsSubstring("ids.txt:2: '11' is not a token id; ids run from 0 to 10"));
  CHECK_THAT(refusal("1 x\n"), ContainsSubstring("ids.txt:1: 'x'"));
  CHECK_THAT(refusal("1 2\n3\n"), ContainsSubstring("ids.txt:2: 1 ids, but the first sequence has 2"));
  CHECK_THAT(refusal("\n"), ContainsSubstring("no token ids"));
  CHECK_THAT(refusal("1 2 3 4 5 6 7\n"), ContainsSubstring("longer than the model's context, 6"));
}

}  // namespace blockzoo
