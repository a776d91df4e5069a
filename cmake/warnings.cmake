# Warnings for our own code; never exported. BLOCKZOO_WERROR makes them errors (the ci preset).
option(BLOCKZOO_WERROR "Treat warnings as errors" OFF)
add_library(blockzoo_warnings INTERFACE)
target_compile_options(blockzoo_warnings INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual)
if(BLOCKZOO_WERROR)
  target_compile_options(blockzoo_warnings INTERFACE -Werror)
endif()
