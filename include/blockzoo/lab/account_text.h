#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blockzoo/lab/account.h"
#include "blockzoo/lab/devices.h"

namespace blockzoo {

/// How an account is shown.
struct AccountView {
  std::optional<DeviceSheet> device;  // for the least times and its memory
  std::optional<double> memory_gb;    // instead of the device's
  bool binary_units = false;          // GiB of 2^30 bytes; GB of 10^9 otherwise
  int64_t steps = 0;                  // updates, for the time of a training; 0 leaves it out
  double utilisation = 0.5;           // share of the peak that training reaches (MFU)
};

std::string account_text(const std::string& name, const Account& account, const AccountView& view);
std::string account_json(const std::string& name, const Account& account, const AccountView& view);

/// One line for each account, of the figures that change with context and batch.
std::string account_table(const std::vector<Account>& accounts, const AccountView& view);
std::string account_table_json(const std::vector<Account>& accounts, const AccountView& view);

/// Values of a sweep: "1024..131072" doubles from the first up to the last, "1,2,4" names them.
/// Errors: ConfigError.
std::vector<int64_t> sweep_values(const std::string& text);

}  // namespace blockzoo
