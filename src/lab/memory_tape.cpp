#include "lab/memory_tape.h"

#include <algorithm>

namespace blockzoo {

void MemoryMeter::add(double bytes) {
  live_ += bytes;
  if (live_ <= peak_) return;
  peak_ = live_;
  moment_of_peak_ = moment_;
}

Memory MemoryTape::allocate(double bytes) {
  meter_.add(bytes);
  return {static_cast<const void*>(&meter_), [this, bytes](const void*) { meter_.release(bytes); }};
}

void MemoryTape::enter(const std::string& part) {
  part_ = part;
  meter_.enter("forward pass, " + part);
}

Traced MemoryTape::apply(const std::vector<Traced>& inputs, const OperatorMemory& memory) {
  Node node{.part = part_, .inputs = inputs, .memory = memory};
  for (auto& input : node.inputs) input.memory.reset();
  Traced result{.values = memory.values, .each = memory.each, .memory = allocate(memory.values * memory.each)};
  if (memory.extra > 0) node.extra = allocate(memory.extra);
  allocate(memory.forward_scratch);
  if (memory.saves_result) node.memory.saved.push_back(result.memory);
  result.node = static_cast<int>(nodes_.size());
  nodes_.push_back(std::move(node));
  return result;
}

Traced MemoryTape::cast(const Traced& x, double each) {
  return x.each == each ? x : apply({x}, {.values = x.values, .each = each});
}

Traced MemoryTape::add(const Traced& a, const Traced& b) {
  auto result = apply({a, b}, {.values = a.values, .each = std::max(a.each, b.each)});
  nodes_.back().sum = true;
  return result;
}

void MemoryTape::deposit(int node, const Memory& gradient, double bytes) {
  if (node < 0) return;
  auto& waiting = pending_[static_cast<size_t>(node)];
  if (!waiting)
    waiting = gradient;
  else if (waiting.use_count() > 1)
    waiting = allocate(bytes);  // someone else reads it too, so the sum is an array of its own
}

void MemoryTape::pass_back(Node node, Memory gradient) {
  auto scratch = allocate(node.memory.backward_scratch);
  std::vector<Memory> made;
  const double result_each = node.memory.each;
  for (const auto& input : node.inputs) {
    const bool shared = node.sum && input.each == result_each;
    made.push_back(input.node < 0 ? Memory() : shared ? gradient : allocate(input.bytes()));
  }
  const auto& own = node.memory;
  auto learnt = own.parameter.empty() ? Memory() : allocate(own.parameter_values * own.gradient_each);
  scratch.reset();
  gradient.reset();
  node.memory.saved.clear();
  node.extra.reset();
  for (size_t i = 0; i < made.size(); ++i) deposit(node.inputs[i].node, made[i], node.inputs[i].bytes());
  if (own.parameter.empty()) return;
  if (own.gradient_each != 4) learnt = allocate(own.parameter_values * 4);
  gradients_.try_emplace(own.parameter, learnt);
}

void MemoryTape::backward(const Traced& loss) {
  pending_.assign(nodes_.size(), {});
  pending_[static_cast<size_t>(loss.node)] = allocate(loss.bytes());
  while (!nodes_.empty()) {
    auto gradient = std::move(pending_.back());
    auto node = std::move(nodes_.back());
    pending_.pop_back();
    nodes_.pop_back();
    meter_.enter("backward pass, " + node.part);
    if (gradient) pass_back(std::move(node), std::move(gradient));
  }
}

}  // namespace blockzoo
