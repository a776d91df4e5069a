#include "lab/operator_times.h"

#include <ATen/record_function.h>

#include <array>
#include <chrono>
#include <string_view>
#include <vector>

namespace blockzoo {
namespace {

using OperatorClock = std::chrono::steady_clock;

struct OpenOperator {
  OperatorClock::time_point start;
  double inside_s = 0;  // of operators that it called
  double allocated_bytes = 0;
};

/// What the callbacks write to; LibTorch takes plain functions.
thread_local std::vector<OpenOperator> open_operators;
thread_local std::map<std::string, OperatorTime>* operator_sums = nullptr;

double seconds_from(OperatorClock::time_point start) {
  return std::chrono::duration<double>(OperatorClock::now() - start).count();
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction&) {
  open_operators.push_back({OperatorClock::now()});
  return nullptr;
}

void on_end(const at::RecordFunction& function, at::ObserverContext*) {
  if (open_operators.empty() || operator_sums == nullptr) return;
  const double spent = seconds_from(open_operators.back().start);
  auto& own = (*operator_sums)[function.name()];
  own.seconds += spent - open_operators.back().inside_s;
  ++own.calls;
  const double bytes = open_operators.back().allocated_bytes;
  open_operators.pop_back();
  const bool only_takes_memory = std::string_view(function.name()).find("empty") != std::string_view::npos;
  if (open_operators.empty()) return;
  open_operators.back().inside_s += spent;
  (only_takes_memory ? open_operators.back().allocated_bytes : own.allocated_bytes) += bytes;
}

struct KindOfWords {
  std::string_view kind;
  std::vector<std::string_view> words;
};

/// The first kind with a word in the name takes it.
const std::array kKinds{
    KindOfWords{"attention", {"attention", "TiledAttention"}},
    KindOfWords{"softmax", {"softmax", "Softmax"}},
    KindOfWords{"matrix products", {"mm", "linear", "Linear", "matmul"}},
    KindOfWords{"norms", {"norm", "Norm", "FusedDynamicTanh"}},
    KindOfWords{"activations and gates",
                {"activation", "Activation", "silu", "gelu", "relu", "sigmoid", "tanh", "elu"}},
    KindOfWords{"positions", {"rotary", "FusedRotation"}},
    KindOfWords{"loss",
                {"cross_entropy", "CrossEntropy", "soft_cap", "SoftCap", "logsumexp", "gather", "nll", "scatter"}},
    KindOfWords{"optimizer", {"adamw", "foreach"}},
    KindOfWords{"embedding", {"embedding"}},
    KindOfWords{"sums, casts and copies",
                {"add", "mul", "sum", "copy", "_to", "clone", "contiguous", "cat", "stack", "fill", "zero", "ToCopy",
                 "AccumulateGrad", "pow", "sub", "div", "neg", "rsqrt", "mean"}}};

}  // namespace

std::map<std::string, OperatorTime> operator_times(Allocations& allocations, const std::function<void()>& work) {
  std::map<std::string, OperatorTime> sums;
  operator_sums = &sums;
  open_operators.assign(1, {OperatorClock::now()});  // for all that no operator does
  allocations.on_allocation([](double bytes) { open_operators.back().allocated_bytes += bytes; });
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(on_start, on_end)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}));
  const auto finish = [&] {
    at::removeCallback(handle);
    allocations.on_allocation({});
    operator_sums = nullptr;
  };
  try {
    work();
  } catch (...) {
    finish();
    throw;
  }
  finish();
  const auto& all = open_operators.front();
  sums["outside operators"] = {seconds_from(all.start) - all.inside_s, 1, all.allocated_bytes};
  return sums;
}

std::string kind_of_operator(const std::string& name) {
  for (const auto& [kind, words] : kKinds) {
    for (const auto word : words) {
      if (name.find(word) != std::string::npos) return std::string(kind);
    }
  }
  return "rest";
}

}  // namespace blockzoo
