#include "blockzoo/nn/norm.h"
#include "support/from_yaml.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

Norm norm_of(const std::string& yaml, int64_t width) { return make_norm(from_yaml<NormConfig>(yaml), {width}); }

TEST_CASE("RMSNorm and scale norm ignore the scale of x, LayerNorm its scale and offset",
          "[nn][torch][identity][norm]") {
  const auto x = ramp("x", {3, 8}) + 0.5;
  for (const std::string kind :
       {"{kind: rms_norm, eps: 1e-12}", "{kind: scale_norm}", "{kind: layer_norm, eps: 1e-12}"}) {
    INFO(kind);
    auto norm = norm_of(kind, 8);
    norm->to(at::kDouble);
    check_near("of 1000 x", norm->forward(1000 * x), norm->forward(x));
  }
  auto norm = norm_of("{kind: layer_norm}", 8);
  norm->to(at::kDouble);
  check_near("of x + 7", norm->forward(x + 7), norm->forward(x));
}

TEST_CASE("scale norm starts as RMSNorm without eps", "[nn][torch][identity][norm]") {
  const auto x = ramp("x", {3, 8});
  auto scale = norm_of("{kind: scale_norm}", 8), rms = norm_of("{kind: rms_norm, eps: 1e-12}", 8);
  check_near("output", scale->forward(x), rms->forward(x), {1e-6, 1e-6});
}

TEST_CASE("norms with a unit offset start as the norm without a gain", "[nn][torch][identity][norm]") {
  const auto x = ramp("x", {3, 8});
  for (const std::string kind : {"rms_norm", "layer_norm"}) {
    auto offset = norm_of("{kind: " + kind + ", unit_offset: true}", 8),
         bare = norm_of("{kind: " + kind + ", gain: false}", 8);
    check_near("output", offset->forward(x), bare->forward(x));
  }
}

TEST_CASE("norms of large half-precision values are right", "[nn][torch][identity][norm]") {
  // 300^2 is beyond float16's largest number, 65504.
  for (const std::string kind : {"rms_norm", "layer_norm", "scale_norm"}) {
    for (const auto type : {at::kHalf, at::kBFloat16}) {
      for (const double size : {1000.0, 30000.0}) {
        INFO(kind << " in " << type << " at " << size);
        auto norm = norm_of("{kind: " + kind + "}", 4096);
        const auto x = (size * ramp("x", {2, 4096}).sign()).to(type);
        const auto expected = norm->forward(x.to(at::kFloat));
        check_near("float32 parameters", norm->forward(x), expected, tolerance(type));
        norm->to(type);
        check_near("parameters of x's type", norm->forward(x), expected, tolerance(type));
        const auto constant = norm->forward(at::full({1, 4096}, size, type));
        check_near("constant", constant, at::full_like(constant, kind == "layer_norm" ? 0 : 1), tolerance(type));
      }
    }
  }
}

TEST_CASE("norms of small bf16 values are right", "[nn][torch][identity][norm]") {
  for (const std::string kind : {"{kind: rms_norm}", "{kind: rms_norm, eps: 1e-6}", "{kind: layer_norm}"}) {
    for (const double size : {0.05, 0.001}) {
      INFO(kind << " at " << size);
      const auto x = (size * ramp("x", {4, 512})).to(at::kBFloat16), wide = x.to(at::kDouble);
      auto norm = norm_of(kind, 512);
      const bool layer = kind.find("layer") != std::string::npos;
      const auto centred = layer ? wide - wide.mean(-1, true) : wide;
      const auto expected = centred / (centred.square().mean(-1, true) + (layer ? 1e-5 : 1e-6)).sqrt();
      check_near("output", norm->forward(x), expected, {1e-3, 1e-2});
    }
  }
}

TEST_CASE("zero rows stay finite, forward and backward, in every norm and type", "[nn][torch][identity][norm]") {
  for (const auto& config : all_kinds<NormConfig>()) {
    for (const auto type : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
      INFO(kind_of(config) << " in " << type);
      auto norm = make_norm(config, {16});
      auto x = at::zeros({2, 16}, type);
      x[1].fill_(1);
      x.requires_grad_();
      const auto y = norm->forward(x);
      check_equal("zero row", y[0], at::zeros({16}));
      if (type == at::kHalf && kind_of(config) == "scale_norm") continue;  // g / eps is beyond float16's largest number
      y.sum().backward();
      CHECK(x.grad().isfinite().all().item<bool>());
      for (const auto& [name, parameter] : parameters_of(*norm)) CHECK(parameter.grad().isfinite().all().item<bool>());
    }
  }
}

}  // namespace
}  // namespace blockzoo
