# Warnings for our own code; never exported. BLOCKZOO_WERROR makes them errors (the ci preset).
option(BLOCKZOO_WERROR "Treat warnings as errors" OFF)
add_library(blockzoo_warnings INTERFACE)
target_compile_options(blockzoo_warnings INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
                                                   -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # these see faults in std::string's own code when it is inlined (GCC bug 105651)
  target_compile_options(blockzoo_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow
                                                     -Wno-array-bounds)
endif()
if(BLOCKZOO_WERROR)
  target_compile_options(blockzoo_warnings INTERFACE -Werror)
endif()
