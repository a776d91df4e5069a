#pragma once

namespace blockzoo {

/// Whether a text begins, or goes on where another was cut: then nothing is put in front of it.
enum class TextStart { kBegins, kGoesOn };

}  // namespace blockzoo
