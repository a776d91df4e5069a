#pragma once

#include <string>

namespace blockzoo {

/// Markdown: the name and shape of every parameter that a kind or a key gives a model, read off built models.
std::string parameter_tables();

}  // namespace blockzoo
