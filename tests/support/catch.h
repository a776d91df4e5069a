#pragma once

// The only includer of Catch2. LibTorch defines glog's CHECK, which aborts; were Catch2 included first, its own CHECK
// would be replaced without a warning.
#include <c10/util/Logging.h>
#undef CHECK

#if __has_include(<catch2/catch_test_macros.hpp>)  // Catch2 3
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
#ifdef CATCH_CONFIG_RUNNER
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
namespace Catch {
using TestEventListenerBase = EventListenerBase;
}
#endif
namespace blockzoo {
using Catch::Approx;
}
#else  // Catch2 2.13
#include <catch2/catch.hpp>
namespace blockzoo {
using Catch::Detail::Approx;
}
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}
#endif
