#pragma once

#include <ATen/ATen.h>

#include <sstream>
#include <string>

#include "support/catch.h"

namespace blockzoo {

/// |actual - expected| may be up to absolute + relative * |expected|.
struct Tolerance {
  double absolute;
  double relative;
};

/// The one table of tolerances.
inline Tolerance tolerance(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return {1e-9, 1e-9};
    case at::kFloat:
      return {2e-5, 2e-5};
    case at::kHalf:
      return {2e-3, 2e-3};
    case at::kBFloat16:
      return {1e-2, 1e-2};
    default:
      return {0, 0};
  }
}

/// Empty, or the tensor's name, the largest excess and where it is.
inline std::string difference(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                              Tolerance allowed) {
  std::ostringstream text;
  if (!actual.defined()) return name + " is undefined";
  if (actual.sizes() != expected.sizes()) {
    text << name << " has shape " << actual.sizes() << ", expected " << expected.sizes();
    return text.str();
  }
  if (actual.numel() == 0) return "";
  const auto a = actual.detach().to(at::kCPU, at::kDouble).reshape(-1),
             e = expected.detach().to(at::kCPU, at::kDouble).reshape(-1);
  const auto gap = (a - e).abs();
  // A NaN is never near; an infinity is near itself.
  const auto excess =
      at::where(a == e, at::zeros_like(a), gap - allowed.absolute - allowed.relative * e.abs()).nan_to_num(INFINITY);
  const auto worst = excess.argmax().item<int64_t>();
  if (excess[worst].item<double>() <= 0) return "";
  text << name << ": largest difference at [";
  int64_t rest = worst, block = actual.numel();
  for (int64_t dim = 0; dim < actual.dim(); ++dim) {
    block /= actual.size(dim);
    text << (dim ? ", " : "") << rest / block;
    rest %= block;
  }
  text << "] of " << actual.sizes() << ": " << a[worst].item<double>() << ", expected " << e[worst].item<double>()
       << " (off by " << gap[worst].item<double>() << "); " << (excess > 0).sum().item<int64_t>() << " values are off";
  return text.str();
}

inline void check_near(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                       Tolerance allowed) {
  const auto problem = difference(name, actual, expected, allowed);
  INFO(problem);
  CHECK(problem.empty());
}

inline void check_near(const std::string& name, const at::Tensor& actual, const at::Tensor& expected) {
  check_near(name, actual, expected, tolerance(actual.scalar_type()));
}

/// Bit for bit.
inline void check_equal(const std::string& name, const at::Tensor& actual, const at::Tensor& expected) {
  check_near(name, actual, expected, {0, 0});
}

}  // namespace blockzoo
