#include "blockzoo/lab/devices.h"

#include "blockzoo/core/config_error.h"

namespace blockzoo {

const std::vector<DeviceSheet>& device_sheets() {
  static const std::vector<DeviceSheet> sheets{
      {"v100", 15.7, 125, 900, 32, "NVIDIA V100 SXM2 data sheet, 2018"},
      {"a100-40gb", 19.5, 312, 1555, 40, "NVIDIA A100 SXM4 data sheet, 2020"},
      {"a100-80gb", 19.5, 312, 2039, 80, "NVIDIA A100 SXM4 80 GB data sheet, 2021"},
      {"h100", 67, 989.4, 3350, 80, "NVIDIA H100 SXM5 data sheet, 2023"},
      {"h200", 67, 989.4, 4800, 141, "NVIDIA H200 SXM data sheet, 2024"},
      {"l4", 30.3, 121, 300, 24, "NVIDIA L4 data sheet, 2023"},
      {"rtx-3090", 35.6, 71, 936, 24, "NVIDIA GA102 white paper, 2020"},
      {"rtx-4090", 82.6, 165.2, 1008, 24, "NVIDIA Ada white paper, 2022"},
  };
  return sheets;
}

const DeviceSheet& device_sheet(const std::string& name) {
  std::string known;
  for (const auto& sheet : device_sheets()) {
    if (sheet.name == name) return sheet;
    known += (known.empty() ? "" : ", ") + sheet.name;
  }
  throw ConfigError(Problem{{}, "--device", "is '" + name + "'; one of: " + known});
}

}  // namespace blockzoo
