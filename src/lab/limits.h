#pragma once

#include <map>
#include <string>
#include <vector>

#include "blockzoo/train/run_config.h"
#include "kernels/products.h"

namespace blockzoo {

/// What this machine can do at most, measured now: the best of several tries, since whatever else runs only slows it.
struct MachineLimits {
  double product_flops_per_s = 0;  // 1024 x 1024 x 1024, in the run's precision
  double bytes_per_s = 0;          // a = b + s c over arrays that no cache holds
  double bytes_read_per_s = 0;     // the sums of such arrays, or that, whichever is quicker
};
MachineLimits measure_limits(Precision precision);

/// Mean number of running tasks over the last minute; 0 where the system does not tell.
double load_average();

/// One of a linear map's three products by everyone who can compute it.
struct ProductSpeed {
  int64_t rows = 0, in = 0, out = 0;
  std::string product;  // "output", "input gradient", "weight gradient"
  std::string chosen;
  std::map<std::string, double> flops_per_s;
};

/// Who can multiply in the run's precision.
std::vector<std::string> multipliers_of(Precision precision);

/// Of every shape of linear map that one micro-batch of this run multiplies. Empty where there is no choice.
std::vector<ProductSpeed> compare_libraries(const RunConfig& config);

}  // namespace blockzoo
