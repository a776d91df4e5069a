#include "blockzoo/train/precision.h"

#include <ATen/autocast_mode.h>

namespace blockzoo {

AutocastScope::AutocastScope(Precision precision, c10::Device device)
    : device_(device.type()),
      enabled_before_(at::autocast::is_autocast_enabled(device_)),
      type_before_(at::autocast::get_autocast_dtype(device_)) {
  at::autocast::set_autocast_enabled(device_, precision == Precision::kBfloat16);
  at::autocast::set_autocast_dtype(device_, at::kBFloat16);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, type_before_);
}

}  // namespace blockzoo
