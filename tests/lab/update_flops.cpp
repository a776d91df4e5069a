#include "lab/update_flops.h"

#include "blockzoo/nn/flops.h"
#include "support/catch.h"
#include "support/from_yaml.h"
#include "support/tiny_run.h"

namespace blockzoo {

TEST_CASE("Operations of an update by kind are those that were counted by hand", "[lab][flops][torch]") {
  auto config = tiny_run();
  config.model = from_yaml<ModelConfig>(
      "{vocabulary: 5, context: 3, width: 4, layers: 1, final_softcap: 30, block: {attention: {heads: 2, kv_heads: 1}, "
      "ffn: {hidden: 6}}}");
  config.train.batch = 2;
  config.train.loss.z_loss = 1e-4;
  const auto flops = update_flops(config);
  CHECK(flops.at("norms").others == 2 * 9 * 60);
  CHECK(flops.at("softmax").others == 2 * 18 * 11);
  CHECK(flops.at("loss").others == 2 * 3 * (4 * 5 + 4 + 2 + 15 + 3 * 5 + 1 + 3 + 15));
  // 172 parameters, 140 of them matrices that decay: squares and clip three, AdamW fourteen, decay two.
  CHECK(flops.at("optimizer").others == 17 * 172 + 2 * 140);
  // Two for each multiply-add, three times: q, k, v, o; gate, up, down; head. Scores and values of two heads.
  CHECK(flops.at("matrix products").products == 2 * 3 * 2 * 3 * (16 + 8 + 8 + 16 + 3 * 24 + 20));
  CHECK(flops.at("attention").products == 2 * 3 * 2 * 2 * 9 * 4);
  double products = 0;
  for (const auto& [kind, count] : flops) {
    products += count.products;
    CHECK(class_of_kind(kind) != "other");
  }
  CHECK(products == training_flops(config.model, 2));
}

}  // namespace blockzoo
