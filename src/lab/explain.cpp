#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <spdlog/fmt/fmt.h>

#include <fstream>

#include "blockzoo/lab/bench.h"
#include "blockzoo/train/run.h"
#include "kernels/products.h"
#include "kernels/rows/instructions.h"
#include "lab/limits.h"
#include "train/machine.h"

namespace blockzoo {
namespace {

/// The first file that this process has mapped whose path has the word; empty when there is none.
std::string mapped_library(const std::string& word) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto path = line.find('/');
    if (path != std::string::npos && line.find(word, path) != std::string::npos) return line.substr(path);
  }
  return "";
}

std::string bfloat16_words() {
  switch (bfloat16_products()) {
    case Bfloat16Products::kPairs:
      return "Bfloat16 products are LibTorch's, but for weight gradients, which our own rows sum in float32.";
    case Bfloat16Products::kRows:
      return "Bfloat16 products are our own rows'.";
    case Bfloat16Products::kWidened:
      return "Bfloat16 products are float32's, of widened numbers, since this processor has no instructions for them.";
    case Bfloat16Products::kLibTorch:
      break;
  }
  return "Bfloat16 products are LibTorch's.";
}

std::string products_text(const RunConfig& config) {
  const auto all = multipliers_of(config.train.precision);
  auto text = fmt::format("{:>8} {:>6} {:>6}  {:16}", "rows", "in", "out", "product");
  for (const auto& name : all) text += fmt::format(" {:>8}", name);
  text += fmt::format("  GFLOP/s, {}\n", name_of(config.train.precision));
  std::string warnings;
  for (const auto& speed : compare_libraries(config)) {
    text += fmt::format("{:>8} {:>6} {:>6}  {:16}", speed.rows, speed.in, speed.out, speed.product);
    for (const auto& name : all) {
      const auto found = speed.flops_per_s.find(name);
      text += found == speed.flops_per_s.end() ? std::string(9, ' ') : fmt::format(" {:>8.0f}", found->second / 1e9);
    }
    text += "  by " + speed.chosen + "\n";
    for (const auto& [name, other] : speed.flops_per_s) {
      const double taken = speed.flops_per_s.at(speed.chosen);
      if (other > 1.2 * taken)
        warnings += fmt::format("warning: {} is {:.1f} times as fast for the {} of {} to {}\n", name, other / taken,
                                speed.product, speed.in, speed.out);
    }
  }
  return text + warnings;
}

constexpr auto kHugePages = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Whether the system gives them to a program that asks.
bool huge_pages() {
  std::ifstream file(kHugePages);
  std::string words;
  return std::getline(file, words) && words.find("[never]") == std::string::npos;
}

}  // namespace

std::string explain(const RunConfig& config) {
  const auto threads = thread_count(config.train.threads), cores = thread_count({});
  at::set_num_threads(static_cast<int>(threads));
  auto text = fmt::format("machine: {}\nkernels: {}\n", machine(), describe(config.train.kernels));
  text +=
      "  The matrix library follows from the processor and from what LibTorch was built with, never from a timing, so\n"
      "  that a run gives the same bits when it is repeated.\n";
  text += "  " + bfloat16_words() + "\n";
  text += fmt::format("  Rows are computed with {}, the best that this processor has of those that are compiled in.\n",
                      rows::instructions());
  text += fmt::format("threads: {} of {} cores that this process may use\n", threads, cores);
  if (threads != cores) text += fmt::format("warning: train.threads is {}, but {} cores may be used\n", threads, cores);
  double load = 0;
  if (getloadavg(&load, 1) == 1 && load > 0.5 * static_cast<double>(cores))
    text += fmt::format("warning: others use this machine, its load is {:.1f}; times will waver\n", load);
  text += fmt::format("memory: freed memory stays in the process, pages are {}; denormals are flushed\n",
                      huge_pages() ? "huge" : "small");
  if (!huge_pages())
    text += "warning: the system gives no huge pages; `echo madvise > " + std::string(kHugePages) +
            "`, as root, makes generation faster\n";
  if (const auto blas = mapped_library("openblas-pthread"); !blas.empty())
    text += "warning: " + blas +
            " keeps threads of its own beside OpenMP's, 2.5 times slower; install libopenblas0-openmp\n";
  if (!at::hasMKL() && mapped_library("openblas").empty() && !mapped_library("libblas").empty())
    text += "warning: LibTorch multiplies with the reference BLAS; install libopenblas0-openmp\n";
  return text + "\n" + products_text(config);
}

}  // namespace blockzoo
