#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace blockzoo {

/// Bytes that are alive, and the most there were at a time.
class MemoryMeter {
 public:
  void add(double bytes);
  void release(double bytes) { live_ -= bytes; }
  void enter(std::string moment) { moment_ = std::move(moment); }

  double live() const { return live_; }
  double peak() const { return peak_; }
  const std::string& moment_of_peak() const { return moment_of_peak_; }

 private:
  double live_ = 0, peak_ = 0;
  std::string moment_, moment_of_peak_;
};

/// One allocation: its bytes live as long as someone holds it.
using Memory = std::shared_ptr<const void>;

/// A tensor of an update without its numbers: how many there are, of how many bytes each, and where they lie.
struct Traced {
  double values = 0;
  double each = 4;
  Memory memory;
  int node = -1;  // of the tape, from which it comes; -1: nothing learns behind it

  double bytes() const { return values * each; }
};

/// What an operator does with memory besides reading its inputs and making the gradients of these.
struct OperatorMemory {
  double values = 0;  // of the result
  double each = 4;
  std::vector<Memory> saved = {};  // for the backward pass
  bool saves_result = false;
  double extra = 0;             // bytes saved besides: statistics, masks
  double forward_scratch = 0;   // bytes while the result is computed
  double backward_scratch = 0;  // bytes while the inputs' gradients are computed
  std::string parameter = {};   // that gets a gradient, float32
  double parameter_values = 0;
  double gradient_each = 4;  // bytes of a value of its gradient as it is computed
};

/// Follows the memory of one forward and one backward pass, as LibTorch's autograd holds and frees it: an operator's
/// saved tensors go when its backward is done, the gradient of a tensor when the operator that made it has had it, and
/// the gradients of parameters stay.
class MemoryTape {
 public:
  explicit MemoryTape(MemoryMeter& meter) : meter_(meter) {}

  Memory allocate(double bytes);
  /// A moment's name, for what is applied from now on.
  void enter(const std::string& part);
  Traced apply(const std::vector<Traced>& inputs, const OperatorMemory& memory);
  /// x in another type; itself where it has that type.
  Traced cast(const Traced& x, double each);
  /// A sum: its gradient is that of its terms, without a copy.
  Traced add(const Traced& a, const Traced& b);
  void backward(const Traced& loss);

 private:
  struct Node {
    std::string part;
    std::vector<Traced> inputs;  // without their memory
    OperatorMemory memory;
    Memory extra;
    bool sum = false;
  };
  void pass_back(Node node, Memory gradient);
  void deposit(int node, const Memory& gradient, double bytes);

  MemoryMeter& meter_;
  std::string part_;
  std::vector<Node> nodes_;
  std::vector<Memory> pending_;
  std::map<std::string, Memory> gradients_;
};

}  // namespace blockzoo
