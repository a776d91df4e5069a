#include "kernels/shared_packing.h"

#include <ATen/ATen.h>

#include <optional>

#include "blockzoo/nn/types.h"

namespace blockzoo {
namespace {

/// The last input, for as long as somebody keeps it and its packing.
struct LastInput {
  c10::weak_intrusive_ptr<c10::TensorImpl> x;
  c10::weak_intrusive_ptr<SharedPacking> packing;
  int64_t version;
};
thread_local std::optional<LastInput> last_input;

c10::intrusive_ptr<SharedPacking> packing_of(const Tensor& x) {
  if (last_input && last_input->version == x._version()) {
    const auto input = last_input->x.lock();
    auto known = last_input->packing.lock();
    if (known && input.get() == x.unsafeGetTensorImpl()) return known;
  }
  auto fresh = c10::make_intrusive<SharedPacking>();
  last_input = LastInput{.x = c10::weak_intrusive_ptr<c10::TensorImpl>(x.getIntrusivePtr()),
                         .packing = c10::weak_intrusive_ptr<SharedPacking>(fresh),
                         .version = x._version()};
  return fresh;
}

}  // namespace

void share_packing(torch::autograd::AutogradContext* context, const Tensor& x) {
  auto shared = packing_of(x);
  ++shared->to_come;
  context->saved_data["packing"] = c10::IValue::make_capsule(std::move(shared));
}

}  // namespace blockzoo
