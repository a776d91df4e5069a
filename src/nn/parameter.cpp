#include "blockzoo/nn/parameter.h"

#include <ATen/Functions.h>

namespace blockzoo {
namespace {

thread_local at::Device device_of_birth = at::kCPU;

}  // namespace

BornOn::BornOn(at::Device device) : before_(device_of_birth) { device_of_birth = device; }
BornOn::~BornOn() { device_of_birth = before_; }

at::Device birthplace() { return device_of_birth; }

Tensor born(at::IntArrayRef shape, double value) {
  return at::full(shape, value, at::TensorOptions().dtype(at::kFloat).device(device_of_birth));
}

}  // namespace blockzoo
