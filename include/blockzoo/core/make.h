#pragma once

#include <memory>
#include <variant>

namespace blockzoo {

/// Builds the module that a config names: Kind::Impl(config, args...), as its family's base.
template <class Base, class... Kinds, class... Args>
std::shared_ptr<Base> make(const std::variant<Kinds...>& config, const Args&... args) {
  return std::visit(
      [&]<class Kind>(const Kind& kind) -> std::shared_ptr<Base> {
        return std::make_shared<typename Kind::Impl>(kind, args...);
      },
      config);
}

}  // namespace blockzoo
