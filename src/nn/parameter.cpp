#include "blockzoo/nn/parameter.h"

#include <ATen/Functions.h>

namespace blockzoo {
namespace {

thread_local at::Device birthplace = at::kCPU;

}  // namespace

BornOn::BornOn(at::Device device) : before_(birthplace) { birthplace = device; }
BornOn::~BornOn() { birthplace = before_; }

Tensor born(at::IntArrayRef shape, double value) {
  return at::full(shape, value, at::TensorOptions().dtype(at::kFloat).device(birthplace));
}

}  // namespace blockzoo
