#pragma once

#include <string>
#include <utility>
#include <vector>

#include "blockzoo/lab/study.h"
#include "lab/notes.h"

namespace blockzoo {

/// One value for each swept path.
using SweepPoint = std::vector<std::pair<std::string, Tree>>;

/// Every combination of the swept values; one empty point when nothing is swept.
std::vector<SweepPoint> grid(const Tree& sweep, Notes& notes);

/// "lr 1e-3, width 32"; empty when nothing is swept.
std::string in_words(const std::vector<SweepValue>& sweep);

/// "lr" of train.optimizer.lr.
std::string last_part(const std::string& path);

/// Letters, digits, _ - + and ., at most 80, not beginning with - or a dot.
bool is_file_name(const std::string& name);

/// Characters that a file name should not have become '-'.
std::string as_file_name(std::string text);

}  // namespace blockzoo
