#include "blockzoo/train/run_config.h"

#include <fstream>
#include <set>

#include "blockzoo/core/embedded.h"
#include "blockzoo/lab/study.h"
#include "blockzoo/nn/model.h"
#include "support/catch.h"
#include "support/source_file.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;

namespace {

/// Run files in a folder of their own.
class RunFiles {
 public:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  RunConfig load(const std::string& text, const std::vector<std::string>& sets = {}) const {
    return load_run_config(write("run.yaml", text), sets);
  }

  /// Every problem of a run file, without the folder; empty when there is none.
  std::string problems(const std::string& text, const std::vector<std::string>& sets = {}) const {
    try {
      load(text, sets);
    } catch (const ConfigError& error) {
      std::string what = error.what();
      const auto folder = folder_.path().string() + "/";
      for (size_t at; (at = what.find(folder)) != std::string::npos;) what.erase(at, folder.size());
      return what;
    }
    return "";
  }
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

/// The file, its resolved form, that form read back, and all of it once more are one run.
void check_round_trip(const RunConfig& config) {
  const auto full = resolved(config);
  const auto text = write_yaml(to_document(full));
  const auto again = patched(RunConfig{}, parse_yaml(text, "resolved.yaml"), "/");
  CHECK(write_yaml(to_document(again)) == text);
  CHECK(write_yaml(to_document(resolved(again))) == text);
  CHECK(identity(again) == identity(config));
  // Of the model nothing is left open but the ratio, which the hidden width makes idle.
  auto model = text.substr(text.find("model:"), text.find("\ndata:") - text.find("model:"));
  for (size_t at; (at = model.find("ratio: auto\n")) != std::string::npos;) model.erase(at, 12);
  CHECK(model.find("auto\n") == std::string::npos);
}

}  // namespace

TEST_CASE("every file in configs/ loads, resolves and reads back as itself", "[config][torch]") {
  size_t runs = 0, studies = 0;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(BLOCKZOO_SOURCE_DIR) / "configs")) {
    if (file.path().extension() != ".yaml") continue;
    INFO(file.path());
    if (is_study(file.path())) {
      const auto study = load_study(file.path());
      CHECK_FALSE(study.question.empty());
      for (const auto& run : study.runs) check_round_trip(run.config);
      ++studies;
    } else {
      check_round_trip(load_run_config(file.path()));
      ++runs;
    }
  }
  CHECK(runs >= 3);
  CHECK(studies >= 1);
  CHECK(embedded_configs().size() == runs + studies);
}

TEST_CASE("a preset is found by its name from any folder, and gives way to a file of that name", "[config][torch]") {
  const auto preset = load_run_config("models/tiny.yaml");
  CHECK(write_yaml(to_document(preset)) ==
        write_yaml(
            to_document(load_run_config(std::filesystem::path(BLOCKZOO_SOURCE_DIR) / "configs/models/tiny.yaml"))));
  const RunFiles files;
  files.write("models/tiny.yaml", "model: {width: 16}\n");
  CHECK(load_run_config(files.folder() / "models/tiny.yaml").model.width == 16);
}

TEST_CASE("a model is found by its bare name, in commands and as a base", "[config][torch]") {
  const RunFiles files;
  CHECK(write_yaml(to_document(load_run_config("tiny"))) ==
        write_yaml(to_document(load_run_config("models/tiny.yaml"))));
  CHECK(load_run_config("llama3-8b").model.width == 4096);
  CHECK(files.load("{base: llama3-8b, model: {layers: 2}}").model.context == 8192);
  CHECK(load_model_config("qwen3-0.6b").width == 1024);
  CHECK_THROWS_WITH(
      load_run_config("llama3-9b"),
      Equals("llama3-9b: cannot be read: No such file or directory; no config has that name either (did you mean "
             "'llama3-8b'?)"));
}

TEST_CASE("scale makes the base's model smaller, before what the file says", "[config][torch]") {
  const RunFiles files;
  const auto config = files.load("{base: llama3-8b, scale: 1/16, model: {layers: 3}, train: {steps: 7}}");
  CHECK(config.model.width == 256);
  CHECK(config.model.layers == 3);
  CHECK(config.train.steps == 7);
  CHECK(write_yaml(to_document(load_run_config("llama3-8b", {"model.layers=3", "train.steps=7"}, "1/16"))) ==
        write_yaml(to_document(config)));
  CHECK_THAT(files.problems("{scale: 1/16}"),
             EndsWith("scale: has no effect without base; it makes the base's model smaller"));
  for (const auto* scale : {"2", "1", "0", "-1/2", "1/0", "1/16/2", "small", "[1]", "{}", "''"}) {
    INFO(scale);
    CHECK_THAT(files.problems(std::string("{base: llama3-8b, scale: ") + scale + "}"),
               ContainsSubstring(": scale: ") && EndsWith("; a fraction such as 1/16, a number such as 0.25, or tiny"));
  }
}

TEST_CASE("the section about is checked, and decides nothing", "[config][torch]") {
  const RunFiles files;
  CHECK(identity(files.load("{about: {name: Mine, year: 2025}, model: {layers: 2}}")) ==
        identity(files.load("{model: {layers: 2}}")));
  CHECK_THROWS_WITH(files.load("about: {yaer: 2025}"), ContainsSubstring("about.yaer: no such key"));
}

TEST_CASE("numbers survive any number of round trips bit for bit", "[config][torch]") {
  const RunFiles files;
  for (const auto* lr : {"0.1234567890123456", "3.0000000000000004e-4", "1e-5", "1E-4", ".001", "1.e-4"}) {
    const auto config = files.load(std::string("train: {optimizer: {lr: ") + lr + "}}");
    check_round_trip(config);
    auto text = write_yaml(to_document(resolved(config)));
    for (int i = 0; i < 3; ++i) {
      const auto again = files.load(text);
      CHECK(std::get<AdamwConfig>(again.train.optimizer).lr == std::get<AdamwConfig>(config.train.optimizer).lr);
      CHECK(identity(again) == identity(config));
      text = write_yaml(to_document(again));
    }
  }
}

TEST_CASE("overrides of layers are part of the resolved config and of the identity", "[config][torch]") {
  const RunFiles files;
  const std::string yaml = R"(
model:
  layers: 6
  block: {attention: {window: 16}}
  overrides:
    - {layers: '2::3', block: {attention: {window: 0, softcap: 5e1}, position: {kind: none}}}
    - {layers: [5], block: {ffn: {kind: mlp, ratio: 2, multiple_of: 32}}}
)";
  const auto config = files.load(yaml);
  check_round_trip(config);
  CHECK(identity(config) != identity(files.load("model: {layers: 6, block: {attention: {window: 16}}}")));
  const auto layers = expand_layers(resolved(config).model);
  CHECK(std::get<SoftmaxAttentionConfig>(layers[2].attention).softcap == 50);
  CHECK(std::get<MlpConfig>(layers[5].ffn).hidden == 256);
  CHECK_THAT(write_yaml(to_document(resolved(config))), ContainsSubstring("softcap: 50.0\n"));
}

TEST_CASE("a key in the wrong place or of the wrong kind is refused with its line and the right place",
          "[config][torch][error]") {
  const RunFiles files;
  CHECK_THAT(files.problems("seed: 1\nlr: 1e-3\n"),
             StartsWith("run.yaml:2: lr: no such key") && ContainsSubstring("did you mean 'train.optimizer.lr'?"));
  CHECK_THAT(files.problems("train: {lr: 1e-3}"),
             ContainsSubstring("train.lr: no such key") && ContainsSubstring("did you mean 'train.optimizer.lr'?"));
  CHECK_THAT(files.problems("train: {optimizer: {learning_rte: 1}}"),
             ContainsSubstring("train.optimizer.learning_rte: no such key; allowed are: kind, lr, "));
  CHECK_THAT(files.problems("model: {norm: {kind: layer_norm}}"),
             ContainsSubstring("model.norm: no such key") && ContainsSubstring("did you mean 'model.block.norm' or "));
  CHECK_THAT(files.problems("model: {heads: 4}"), ContainsSubstring("did you mean 'model.block.attention.heads'?"));
  CHECK_THAT(files.problems("model: {n_layers: 4}"),
             ContainsSubstring("model.n_layers: no such key") && ContainsSubstring("did you mean 'layers'?"));
  CHECK_THAT(
      files.problems("model: {block: {attention: {kind: latent, kv_heads: 2}}}"),
      ContainsSubstring("model.block.attention.kv_heads: does not apply to kind latent; it is a key of: softmax"));
  CHECK_THAT(files.problems("model: {block: {norm: {kind: none, eps: 1e-5}}}"),
             ContainsSubstring("does not apply to kind none; it is a key of: rms_norm, layer_norm, scale_norm"));
  CHECK_THAT(files.problems("model: {block: {norm: {kind: rmsnorm}}}"),
             ContainsSubstring("model.block.norm.kind: no 'rmsnorm'; one of: rms_norm, ") &&
                 ContainsSubstring("did you mean 'rms_norm'?"));
  CHECK_THAT(files.problems("model: {block: {ffn: {activation: swiglu}}}"),
             ContainsSubstring("model.block.ffn.activation: is 'swiglu'; one of: relu, gelu, "));
  CHECK_THAT(files.problems("data: {corpus: {path: x}}"),
             ContainsSubstring("data.corpus.path: does not apply to kind stories; it is a key of: text, tokens"));
}

TEST_CASE("booleans, enums and kinds are not mixed up with words that look like them", "[config][torch][error]") {
  const RunFiles files;
  for (const auto* text : {"no", "Off", "y", "'false'", "0"})
    CHECK_THAT(files.problems(std::string("model: {tied: ") + text + "}"),
               ContainsSubstring("run.yaml:1: model.tied: must be true or false, not "));
  CHECK_THAT(files.problems("model: {block: {norm: off}}"),
             ContainsSubstring("model.block.norm: must be a map with a kind"));
  CHECK_THAT(files.problems("train: {loss: {z_loss: off}}"),
             ContainsSubstring("train.loss.z_loss: must be a decimal number"));
  CHECK_THAT(files.problems("train: {precision: no}"),
             ContainsSubstring("train.precision: is 'no'; one of: float32, bfloat16"));
  CHECK_THAT(files.problems("on: 1"), ContainsSubstring("on: no such key"));
}

TEST_CASE("sizes are checked before anything is built", "[config][torch][error]") {
  const RunFiles files;
  for (const auto* text :
       {"010", "0x10", "0o10", "99999999999999999999", "'3 '", "3abc", "1e400", ".nan", ".inf", "1.5"})
    CHECK_THAT(files.problems(std::string("model: {layers: ") + text + "}"),
               ContainsSubstring("run.yaml:1: model.layers: must be a whole "));
  for (const auto* text : {"-1", "0", "-0", "4097", "4294967297", "9223372036854775807"})
    CHECK_THAT(files.problems(std::string("model: {layers: ") + text + "}"),
               ContainsSubstring("must be from 1 to 4096"));
  for (const auto* path : {"width", "context", "embedding_width", "block.attention.heads", "block.attention.head_width",
                           "block.ffn.hidden", "block.ffn.multiple_of"})
    CHECK_THAT(files.problems("{}", {std::string("model.") + path + "=4294967297"}),
               ContainsSubstring(path) && ContainsSubstring("must be from 1 to 16777216"));
  CHECK_THAT(files.problems("model: {block: {ffn: {ratio: 1e300}}}"),
             ContainsSubstring("must be above 0 and at most 1024"));
  for (const auto* text : {".nan", ".inf", "-.inf", "1e400"}) {
    CHECK_THAT(files.problems(std::string("train: {optimizer: {lr: ") + text + "}}"),
               ContainsSubstring("train.optimizer.lr: must be a decimal number"));
    CHECK_THAT(files.problems(std::string("model: {block: {dropout: ") + text + "}}"),
               ContainsSubstring("model.block.dropout: must be a decimal number"));
  }
  CHECK(files.load("model: {layers: 2.0, block: {dropout: -0}}").model.layers == 2);
  CHECK(files.load("train: {steps: 1e3}").train.steps == 1000);
}

TEST_CASE("a file that says nothing is refused, and an empty section by its path", "[config][torch][error]") {
  const RunFiles files;
  CHECK_THAT(files.problems(""), StartsWith("run.yaml:1:1: the file holds no keys"));
  CHECK_THAT(files.problems("# nothing\n"), StartsWith("run.yaml:1:1: the file holds no keys"));
  CHECK(files.problems("{}") == "");
  CHECK_THAT(files.problems("seed: 1\nmodel:\n"),
             StartsWith("run.yaml:2: model: must be a map of keys and values, not nothing"));
  CHECK_THAT(files.problems("- a\n"), StartsWith("run.yaml:1:1: must be a map of keys and values"));
  CHECK_THAT(files.problems("model: {}\n---\nmodel: {}\n"), StartsWith("run.yaml:3:1: a second document"));
  CHECK_THAT(files.problems("lr:1e-3"), StartsWith("run.yaml:1:1: must be a map of keys and values, not 'lr:1e-3'"));
}

TEST_CASE("every problem of a run file comes at once", "[config][torch][error]") {
  const RunFiles files;
  const auto problems = files.problems(R"(sede: 1
model:
  width: 1.5
  block:
    norm: {kind: layer_nrom}
train:
  optimizer: {lr: 0}
  device: gpu
)");
  CHECK_THAT(problems, ContainsSubstring("run.yaml:1: sede: ") && ContainsSubstring("did you mean 'seed'?"));
  CHECK_THAT(problems, ContainsSubstring("run.yaml:3: model.width: "));
  CHECK_THAT(problems, ContainsSubstring("run.yaml:5: model.block.norm.kind: "));
  CHECK_THAT(problems, ContainsSubstring("run.yaml:7: train.optimizer.lr: "));
  CHECK_THAT(problems, ContainsSubstring("run.yaml:8: train.device: is 'gpu'; one of: auto, cpu, cuda"));
  CHECK(std::count(problems.begin(), problems.end(), '\n') == 4);
}

TEST_CASE("a rule between a value of the file and a default is shown in the file", "[config][torch][error]") {
  const RunFiles files;
  CHECK_THAT(files.problems("seed: 1\ntrain:\n  steps: 5\n  schedule: {warmup: 6}\n"),
             StartsWith("run.yaml:4: train.schedule.warmup: is above steps"));
  CHECK_THAT(files.problems("\nmodel:\n  width: 100\n"),
             StartsWith("run.yaml:2: model.block.attention.heads: is 8, which does not divide width 100"));
  CHECK_THAT(files.problems("\nmodel:\n  block: {layout: {kind: post_norm}}\n  width: 100\n"),
             StartsWith("run.yaml:3: model.block.attention.heads: "));
  CHECK_THAT(files.problems("data: {corpus: {kind: tokens, path: a.bin}}"),
             StartsWith("run.yaml:1: model.vocabulary: is 256, but the data has ids up to 50256"));
}

TEST_CASE("a base is read first, from where the file says, and its own problems are its own", "[config][torch]") {
  const RunFiles files;
  files.write("bases/small.yaml",
              "model: {width: 64, block: {norm: {eps: 1e-3}}}\ndata: {corpus: {kind: text, path: texts/a.txt}}\n");
  files.write("bases/middle.yaml", "base: small.yaml\nmodel: {layers: 3}\n");
  const auto config = files.load("base: bases/middle.yaml\nmodel: {block: {norm: {kind: layer_norm}}}\n");
  CHECK(config.model.width == 64);
  CHECK(config.model.layers == 3);
  CHECK(std::get<LayerNormConfig>(config.model.block.norm).eps == 1e-5);  // the other norm's 1e-3 does not leak
  CHECK(std::get<TextConfig>(config.data.corpus).path == (files.folder() / "bases/texts/a.txt").string());
  const auto base = load_run_base(files.folder() / "run.yaml");
  CHECK(base.name == "bases/middle.yaml");
  CHECK(base.config.model.layers == 3);

  CHECK(files.load("base: models/tiny.yaml\n").train.steps == 200);  // one that the program carries
  CHECK(files.load("base: ../configs/models/tiny.yaml\n").train.steps == 200);
  CHECK_THAT(files.problems("base: typo/models/tiny.yaml\n"), ContainsSubstring("tiny.yaml: cannot be read: No such"));
  CHECK_THAT(files.problems("base: nowhere.yaml\n"), ContainsSubstring("nowhere.yaml: cannot be read: No such file"));
  CHECK_THAT(files.problems("base: run.yaml\n"), ContainsSubstring("run.yaml:1: base: a chain of more than 8 files"));
  CHECK_THAT(files.problems("base: [a]\n"),
             ContainsSubstring("run.yaml:1: base: must be the path of another run file"));
  files.write("bad.yaml", "\nmodel: {wdth: 1}\n");
  CHECK_THAT(files.problems("base: bad.yaml\n"), StartsWith("bad.yaml:2: model.wdth: no such key"));
}

TEST_CASE("overrides on the command line come last, in any order, and are named when wrong", "[config][torch]") {
  const RunFiles files;
  const auto config = files.load(
      "model: {width: 64}\n",
      {"model.width=32", "model.block.norm.bias=false", "model.block.norm.kind=layer_norm", "train.optimizer.lr=1E-4"});
  CHECK(config.model.width == 32);
  CHECK_FALSE(std::get<LayerNormConfig>(config.model.block.norm).bias);
  CHECK(std::get<AdamwConfig>(config.train.optimizer).lr == 1e-4);
  CHECK(files.load("{}", {"train.steps=1", "train.steps=2"}).train.steps == 2);
  const auto problems = files.problems("{}", {"train.stepz=3", "model.width=x"});
  CHECK_THAT(problems, ContainsSubstring("--set train.stepz=3: train.stepz: no such key"));
  CHECK_THAT(problems, ContainsSubstring("--set model.width=x: model.width: must be a whole decimal number"));
  CHECK_THAT(files.problems("{}", {"steps"}), StartsWith("--set steps: an override is written path=value"));
  CHECK_THAT(files.problems("{}", {"steps=3"}), ContainsSubstring("did you mean 'train.steps'?"));
}

TEST_CASE("an identity tells runs apart by what decides their numbers and nothing else", "[config][torch]") {
  const RunFiles files;
  const auto name = [&](const std::string& yaml) { return identity(files.load(yaml)); };
  const auto plain = name("{}");
  CHECK(plain == identity(RunConfig{}));
  CHECK(plain == name("{train: {threads: 3, log_every: 7, save_every: 5, keep: 9}}"));
  CHECK(plain == name("model: {block: {attention: {head_width: 16, kv_heads: 8}, ffn: {hidden: 341}}, final_norm: "
                      "{kind: rms_norm}, embedding_width: 128}"));
  std::set<std::string> names{plain};
  for (const auto* yaml :
       {"seed: 1", "data: {seed: 1}", "train: {steps: 199}", "train: {optimizer: {lr: 1.0000000000000002e-3}}",
        "model: {width: 144}", "model: {final_norm: {kind: none}}", "data: {corpus: {seed: 1}}",
        "train: {precision: bfloat16}", "train: {accumulation: 2}"})
    names.insert(name(yaml));
  CHECK(names.size() == 10);
}

}  // namespace blockzoo
