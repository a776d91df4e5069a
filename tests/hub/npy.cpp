#include "blockzoo/hub/npy.h"

#include <ATen/ATen.h>

#include "hub/files.h"
#include "support/catch.h"

using Catch::Matchers::ContainsSubstring;

namespace blockzoo::test {

TEST_CASE("a NumPy file is the one that numpy.load was tried on", "[hub][torch][golden]") {
  const TemporaryFolder folder;
  const auto ramp = at::arange(24, at::kDouble).sub(12).mul(0.5).reshape({2, 3, 4});
  const std::vector<std::pair<std::string, at::Tensor>> cases = {{"three_dims", ramp},
                                                                 {"transposed", ramp.transpose(0, 2)},
                                                                 {"one_dim", ramp.flatten()},
                                                                 {"scalar", at::full({}, 1.5, at::kDouble)},
                                                                 {"empty", at::zeros({0, 3})}};
  for (const auto& [name, tensor] : cases) {
    INFO(name);
    const auto sum = save_npy(folder / (name + ".npy"), tensor);
    const auto bytes = read_file(folder / (name + ".npy"));
    REQUIRE(sum.bytes == bytes.size());
    REQUIRE((bytes.size() - static_cast<size_t>(tensor.numel()) * 4) % 64 == 0);
    REQUIRE(equals_golden(folder / (name + ".npy")));
  }
}

TEST_CASE("a NumPy file that cannot be written says why", "[hub][torch]") {
  const TemporaryFolder folder;
  REQUIRE_THAT(error_of([&] { save_npy(folder / "x.npy", at::Tensor()); }), ContainsSubstring("x.npy"));
  REQUIRE_THAT(error_of([&] { save_npy(folder / "no/x.npy", at::ones({2})); }), ContainsSubstring("No such file"));
}

}  // namespace blockzoo::test
