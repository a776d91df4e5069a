// Row kernels of a step of generation against loops in float64, without LibTorch, so that sanitizers see them. Buffers
// have no room to spare.
#include <cmath>
#include <vector>

#include "kernels/rows/attend_one.h"
#include "kernels/rows/few_rows.h"
#include "support/catch.h"
#include "support/small_numbers.h"

namespace blockzoo::rows {

TEMPLATE_TEST_CASE("Few rows times a matrix of any size", "[kernels][rows]", float, Bf16) {
  for (const size_t inputs : {1, 15, 16, 33, 160}) {
    for (const size_t outputs : {1, 3, 9, 27}) {
      for (const size_t rows : {1, 4, 6, 9, 16}) {
        const auto x = small_numbers<TestType>(rows * inputs, 1), w = small_numbers<TestType>(outputs * inputs, 2),
                   bias = small_numbers<TestType>(outputs, 3);
        std::vector<TestType> y(rows * outputs);
        const auto middle = outputs / 2;
        few_rows({rows, inputs, outputs}, x.data(), w.data(), bias.data(), 0, middle, y.data());
        few_rows({rows, inputs, outputs}, x.data(), w.data(), bias.data(), middle, outputs, y.data());
        for (size_t r = 0; r < rows; ++r) {
          for (size_t o = 0; o < outputs; ++o) {
            double sum = wide(bias[o]);
            for (size_t i = 0; i < inputs; ++i) sum += wide(x[r * inputs + i]) * wide(w[o * inputs + i]);
            CHECK(wide(y[r * outputs + o]) == Approx(sum).epsilon(4e-3).margin(1e-5));
          }
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("One query over kept keys, some of them absent", "[kernels][rows]", float, Bf16) {
  for (const size_t keys : {1, 5, 16, 35}) {
    for (const size_t width : {3, 16, 20}) {
      const std::vector<int64_t> absent{0, static_cast<int64_t>(keys) / 2};
      const OneQueryShape shape{.batch = 2,
                                .keys = keys,
                                .heads = 4,
                                .key_heads = 2,
                                .width = width,
                                .value_width = width + 1,
                                .first_key = keys > 5 ? 3U : 0U,
                                .absent = absent.data(),
                                .scale = 0.5F};
      const auto q = small_numbers<TestType>(2 * 4 * width, 1), k = small_numbers<TestType>(2 * 2 * keys * width, 2),
                 v = small_numbers<TestType>(2 * 2 * keys * (width + 1), 3);
      std::vector<TestType> y(2 * 4 * (width + 1));
      const auto strides = [&](size_t channels) {  // [B, G, S, channels]
        const auto row = static_cast<ptrdiff_t>(channels), head = row * static_cast<ptrdiff_t>(keys);
        return typename OneQueryInputs<TestType>::Strides{2 * head, row, head};
      };
      const OneQueryInputs<TestType> inputs{q.data(), k.data(), v.data(), strides(width), strides(width + 1)};
      attend_one(shape, inputs, 0, 3, y.data());
      attend_one(shape, inputs, 3, 8, y.data());
      for (size_t b = 0; b < 2; ++b) {
        for (size_t h = 0; h < 4; ++h) {
          const auto head = (b * 2 + h / 2) * keys;
          std::vector<double> mixed(width + 1);
          double total = 0;
          for (size_t j = std::max(shape.first_key, static_cast<size_t>(absent[b])); j < keys; ++j) {
            double score = 0;
            for (size_t i = 0; i < width; ++i)
              score += 0.5 * wide(q[(b * 4 + h) * width + i]) * wide(k[(head + j) * width + i]);
            total += std::exp(score);
            for (size_t i = 0; i <= width; ++i) mixed[i] += std::exp(score) * wide(v[(head + j) * (width + 1) + i]);
          }
          for (size_t i = 0; i <= width; ++i)
            CHECK(wide(y[(b * 4 + h) * (width + 1) + i]) == Approx(mixed[i] / total).epsilon(5e-3).margin(1e-5));
        }
      }
    }
  }
}

}  // namespace blockzoo::rows
