# LibTorch's headers cost ten seconds a file. They are compiled once, without anyone's definitions, for library, tests and
# program: target_precompile_headers(x REUSE_FROM blockzoo_pch).
file(WRITE "${PROJECT_BINARY_DIR}/generated/pch.cpp" "// CMake keeps a precompiled header beside a source.\n")
add_library(blockzoo_pch OBJECT "${PROJECT_BINARY_DIR}/generated/pch.cpp")
target_link_libraries(blockzoo_pch PRIVATE blockzoo::libtorch blockzoo_warnings)
target_precompile_headers(blockzoo_pch PRIVATE src/pch.h)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)  # lets ccache see through it
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()

# Even precompiled, LibTorch costs three seconds a file: its templates are instantiated anew in each. Sources below `nn`
# that include none of it, neither by themselves nor through the header of the same name, go without.
function(skip_pch_without_libtorch)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "/(src|tests)/((core|data|hub)/.*)[.]cpp$")
      set(files "${source}")
      set(header "${PROJECT_SOURCE_DIR}/include/blockzoo/${CMAKE_MATCH_2}.h")
      if(EXISTS "${header}")
        list(APPEND files "${header}")
      endif()
      set(includes "")
      foreach(file IN LISTS files)
        file(STRINGS "${file}" found REGEX "^#include <(ATen|torch|c10)/")
        list(APPEND includes ${found})
      endforeach()
      if(NOT includes)
        set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      endif()
    endif()
  endforeach()
endfunction()
