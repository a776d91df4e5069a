#pragma once

#include <string>
#include <vector>

namespace blockzoo {

/// What a data sheet says of a device. Peaks are of dense matrix products with float32 accumulation.
struct DeviceSheet {
  std::string name;
  double float32_tflops;   // without TF32
  double bfloat16_tflops;  // float16 where there is no bfloat16
  double bandwidth_gb_s;   // 1e9 bytes a second
  double memory_gb;        // 1e9 bytes
  std::string source;
};

const std::vector<DeviceSheet>& device_sheets();

/// Errors: ConfigError that lists the names.
const DeviceSheet& device_sheet(const std::string& name);

}  // namespace blockzoo
