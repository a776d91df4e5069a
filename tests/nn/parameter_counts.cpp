#include "blockzoo/nn/model.h"
#include "support/catch.h"
#include "support/from_yaml.h"

namespace blockzoo {
namespace {

/// Published models: what their papers and released configs say, in this zoo's words, and their number of parameters.
struct Row {
  std::string name;
  int64_t total;
  std::string yaml;
};

const std::string biased = "query_bias: true, key_bias: true, value_bias: true, output_bias: true";
const std::string ln = "{kind: layer_norm}", ln_nobias = "{kind: layer_norm, bias: false}", rms = "{kind: rms_norm}";
const std::string offset = "{kind: rms_norm, unit_offset: true}";

const std::vector<Row> rows{
    {"CS336's TinyStories model", 22696448,
     "{vocabulary: 10000, context: 256, width: 512, layers: 4, block: {attention: {heads: 16}, ffn: {hidden: 1344}}}"},
    {"GPT-2 small", 124439808,
     "{vocabulary: 50257, context: 1024, width: 768, layers: 12, tied: true, block: {norm: " + ln +
         ", position: {kind: learned}, attention: {heads: 12, " + biased + "}, ffn: {kind: mlp, bias: true}}}"},
    {"GPT-2 XL", 1557611200,
     "{vocabulary: 50257, context: 1024, width: 1600, layers: 48, tied: true, block: {norm: " + ln +
         ", position: {kind: learned}, attention: {heads: 25, " + biased + "}, ffn: {kind: mlp, bias: true}}}"},
    {"GPT-1", 116534784,
     "{vocabulary: 40478, context: 512, width: 768, layers: 12, tied: true, final_norm: {kind: none}, block: {layout: "
     "{kind: post_norm}, norm: " +
         ln + ", position: {kind: learned}, attention: {heads: 12, " + biased + "}, ffn: {kind: mlp, bias: true}}}"},
    {"OPT 350M", 331196416,
     "{vocabulary: 50272, context: 2048, width: 1024, layers: 24, tied: true, embedding_width: 512, final_norm: {kind: "
     "none}, "
     "block: {layout: {kind: post_norm}, norm: " +
         ln + ", position: {kind: learned, unused_rows: 2}, attention: {heads: 16, " + biased +
         "}, ffn: {kind: mlp, activation: relu, bias: true}}}"},
    {"OPT 6.7B", 6658473984,
     "{vocabulary: 50272, context: 2048, width: 4096, layers: 32, tied: true, block: {norm: " + ln +
         ", position: {kind: learned, unused_rows: 2}, attention: {heads: 32, " + biased +
         "}, ffn: {kind: mlp, activation: relu, bias: true}}}"},
    {"GPT-J 6B", 6050882784,
     "{vocabulary: 50400, context: 2048, width: 4096, layers: 28, head_bias: true, block: {layout: {kind: parallel}, "
     "norm: " +
         ln +
         ", position: {kind: rope, rotary_fraction: 0.25, pairing: interleaved}, attention: {heads: 16}, ffn: {kind: "
         "mlp, bias: true}}}"},
    {"GPT-NeoX 20B", 20554567680,
     "{vocabulary: 50432, context: 2048, width: 6144, layers: 44, block: {layout: {kind: parallel_two_norms}, norm: " +
         ln + ", position: {kind: rope, rotary_fraction: 0.25}, attention: {heads: 64, " + biased +
         "}, ffn: {kind: mlp, bias: true}}}"},
    {"BLOOM 560M", 559214592,
     "{vocabulary: 250880, context: 2048, width: 1024, layers: 24, tied: true, embedding_norm: " + ln +
         ", block: {norm: " + ln + ", position: {kind: alibi}, attention: {heads: 16, " + biased +
         "}, ffn: {kind: mlp, bias: true}}}"},
    {"BLOOM 176B", 176247271424,
     "{vocabulary: 250880, context: 2048, width: 14336, layers: 70, tied: true, embedding_norm: " + ln +
         ", block: {norm: " + ln + ", position: {kind: alibi}, attention: {heads: 112, " + biased +
         "}, ffn: {kind: mlp, bias: true}}}"},
    {"Falcon 7B", 7217189760,
     "{vocabulary: 65024, context: 2048, width: 4544, layers: 32, block: {layout: {kind: parallel}, norm: " + ln +
         ", attention: {heads: 71, kv_heads: 1}, ffn: {kind: mlp}}}"},
    {"Falcon 40B", 41835970560,
     "{vocabulary: 65024, context: 2048, width: 8192, layers: 60, block: {layout: {kind: parallel_two_norms}, norm: " +
         ln + ", attention: {heads: 128, kv_heads: 8}, ffn: {kind: mlp}}}"},
    {"Llama 2 7B, its hidden width by Llama's rule", 6738415616,
     "{vocabulary: 32000, context: 4096, width: 4096, layers: 32, block: {attention: {heads: 32}, ffn: {multiple_of: "
     "256}}}"},
    {"Llama 3 8B", 8030261248,
     "{vocabulary: 128256, context: 8192, width: 4096, layers: 32, block: {attention: {heads: 32, kv_heads: 8}, ffn: "
     "{hidden: 14336}}}"},
    {"Llama 3 70B", 70553706496,
     "{vocabulary: 128256, context: 8192, width: 8192, layers: 80, block: {attention: {heads: 64, kv_heads: 8}, ffn: "
     "{hidden: 28672}}}"},
    {"Qwen2 7B", 7615616512,
     "{vocabulary: 152064, context: 32768, width: 3584, layers: 28, block: {attention: {heads: 28, kv_heads: 4, "
     "query_bias: true, "
     "key_bias: true, value_bias: true}, ffn: {hidden: 18944}}}"},
    {"Qwen3 0.6B", 596049920,
     "{vocabulary: 151936, context: 40960, width: 1024, layers: 28, tied: true, block: {attention: {heads: 16, "
     "kv_heads: 8, head_width: 128, "
     "qk_norm: {kind: head}}, ffn: {hidden: 3072}}}"},
    {"Qwen3 8B", 8190735360,
     "{vocabulary: 151936, context: 40960, width: 4096, layers: 36, block: {attention: {heads: 32, kv_heads: 8, "
     "qk_norm: {kind: head}}, "
     "ffn: {hidden: 12288}}}"},
    {"Gemma 2 2B", 2614341888,
     "{vocabulary: 256000, context: 8192, width: 2304, layers: 26, tied: true, embedding_scale: {kind: sqrt_width}, "
     "final_softcap: 30, "
     "block: {layout: {kind: double_norm}, norm: " +
         offset +
         ", attention: {heads: 8, kv_heads: 4, head_width: 256, softcap: 50, window: 4096}, "
         "ffn: {activation: gelu_tanh, hidden: 9216}}, overrides: [{layers: '1::2', block: {attention: {window: "
         "0}}}]}"},
    {"Gemma 3 1B", 999885952,
     "{vocabulary: 262144, context: 32768, width: 1152, layers: 26, tied: true, embedding_scale: {kind: sqrt_width}, "
     "block: {layout: "
     "{kind: double_norm}, norm: " +
         offset +
         ", attention: {heads: 4, kv_heads: 1, head_width: 256, window: 512, qk_norm: {kind: head, norm: " + offset +
         "}}, ffn: {activation: gelu_tanh, hidden: 6912}}, overrides: [{layers: '5::6', block: {attention: {window: "
         "0}, "
         "position: {theta: 1000000}}}]}"},
    {"OLMo 2 7B", 7298617344,
     "{vocabulary: 100352, context: 4096, width: 4096, layers: 32, block: {layout: {kind: output_norm}, attention: "
     "{heads: 32, "
     "qk_norm: {kind: full}}, ffn: {hidden: 11008}}}"},
    {"OLMo 7B, without any gain", 6888095744,
     "{vocabulary: 50304, context: 2048, width: 4096, layers: 32, block: {norm: {kind: layer_norm, gain: false, bias: "
     "false}, "
     "attention: {heads: 32}, ffn: {hidden: 11008}}}"},
    {"StableLM 2 1.6B", 1644515328,
     "{vocabulary: 100352, context: 4096, width: 2048, layers: 24, block: {norm: " + ln +
         ", position: {rotary_fraction: 0.25}, "
         "attention: {heads: 32, query_bias: true, key_bias: true, value_bias: true}, ffn: {hidden: 5632}}}"},
    {"StableLM 2 12B", 12142976000,
     "{vocabulary: 100352, context: 4096, width: 5120, layers: 40, block: {layout: {kind: parallel}, norm: " +
         ln_nobias +
         ", position: {rotary_fraction: 0.25}, attention: {heads: 32, kv_heads: 8, qk_norm: {kind: head_own, norm: " +
         ln_nobias + "}}, ffn: {hidden: 13824}}}"},
    {"Nemotron-4 15B", 15628775424,
     "{vocabulary: 256000, context: 4096, width: 6144, layers: 32, block: {norm: {kind: layer_norm, unit_offset: "
     "true}, "
     "position: {rotary_fraction: 0.5}, attention: {heads: 48, kv_heads: 8}, ffn: {kind: mlp, activation: "
     "relu_squared}}}"},
    {"Command R+", 103810674688,
     "{vocabulary: 256000, context: 8192, width: 12288, layers: 64, tied: true, logit_scale: {kind: constant, value: "
     "0.8333333333333334}, "
     "block: {layout: {kind: parallel}, norm: " +
         ln_nobias +
         ", position: {theta: 75000000, pairing: interleaved}, attention: {heads: 96, "
         "kv_heads: 8, qk_norm: {kind: head_own, norm: " +
         ln_nobias + "}}, ffn: {hidden: 33792}}}"},
    {"Phi-2", 2779683840,
     "{vocabulary: 51200, context: 2048, width: 2560, layers: 32, head_bias: true, block: {layout: {kind: parallel}, "
     "norm: " +
         ln + ", position: {rotary_fraction: 0.4}, attention: {heads: 32, " + biased +
         "}, ffn: {kind: mlp, activation: gelu_tanh, bias: true}}}"},
};

TEST_CASE("published models have their published number of parameters", "[nn][torch][contract][count]") {
  for (const auto& [name, total, yaml] : rows) {
    INFO(name);
    const auto count = count_parameters(from_yaml<ModelConfig>(yaml));
    CHECK(count.total == total);
    int64_t parts = 0;
    for (const auto& [part, number] : count.by_part) parts += number;
    CHECK(parts == total);
  }
}

TEST_CASE("parameters are counted under the part that they belong to", "[nn][torch][contract][count]") {
  const auto count = count_parameters(from_yaml<ModelConfig>(rows[1].yaml));
  CHECK(count.by_part.at("embedding") == 50257 * 768);
  CHECK(count.by_part.at("position") == 1024 * 768);
  CHECK(count.by_part.at("attention") == 12 * 4 * (768 * 768 + 768));
  CHECK(count.by_part.at("ffn") == 12 * (2 * 768 * 3072 + 3072 + 768));
  CHECK(count.by_part.at("norms") == (2 * 12 + 1) * 2 * 768);
  CHECK(count.by_part.count("head") == 0);
  const auto untied = count_parameters(from_yaml<ModelConfig>(
      "{vocabulary: 11, width: 16, layers: 1, context: 6, embedding_width: 5, head_bias: true}"));
  CHECK(untied.by_part.at("embedding") == 11 * 5 + 16 * 5);
  CHECK(untied.by_part.at("head") == 11 * 5 + 5 * 16 + 11);
}

TEST_CASE("counting takes no memory for the parameters", "[nn][torch][contract][count]") {
  const auto count = count_parameters(from_yaml<ModelConfig>(
      "{vocabulary: 1000000, width: 100000, layers: 1000, context: 64, block: {attention: {heads: 100}}}"));
  CHECK(count.total > 100'000'000'000'000);
}

TEST_CASE("a hidden width from a ratio is cut, then brought to the multiple", "[nn][torch][contract][ffn]") {
  const auto hidden = [](const std::string& ffn, int64_t width) {
    const auto config = from_yaml<FfnConfig>(ffn);
    return std::visit([&]<class Kind>(const Kind& kind) { return kind.resolve(width, Kind::default_ratio); }, config);
  };
  CHECK(hidden("{kind: glu}", 96) == 256);
  CHECK(hidden("{kind: glu}", 512) == 1365);
  CHECK(hidden("{kind: mlp}", 96) == 384);
  CHECK(hidden("{kind: glu, multiple_of: 64}", 512) == 1408);
  CHECK(hidden("{kind: glu, multiple_of: 64, rounding: down}", 512) == 1344);
  CHECK(hidden("{kind: glu, multiple_of: 256}", 4096) == 11008);
  CHECK(hidden("{kind: glu, multiple_of: 64}", 96) == 256);
  CHECK(hidden("{kind: glu, multiple_of: 64, rounding: down}", 8) == 64);
  CHECK(hidden("{kind: mlp, ratio: 3.5}", 10) == 35);
  CHECK(hidden("{kind: mlp, ratio: 0.1}", 5) == 1);
  CHECK(hidden("{kind: mlp, hidden: 7}", 512) == 7);
}

}  // namespace
}  // namespace blockzoo
