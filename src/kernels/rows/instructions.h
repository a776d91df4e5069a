#pragma once

namespace blockzoo::rows {

/// Highway's name of the instruction set that row kernels run with here: AVX3 is AVX-512.
const char* instructions();

}  // namespace blockzoo::rows
