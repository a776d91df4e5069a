# blockzoo::pcre2 and blockzoo::utf8proc, which Debian ships without a CMake package of their own.
function(blockzoo_find_library target library header package)
  if(TARGET ${target})
    return()
  endif()
  find_library(${library}_LIBRARY ${library})
  find_path(${library}_INCLUDE_DIR ${header})
  if(NOT ${library}_LIBRARY OR NOT ${library}_INCLUDE_DIR)
    message(FATAL_ERROR "${header} or its library ${library} is not found: Debian's ${package} has them")
  endif()
  add_library(${target} UNKNOWN IMPORTED)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${${library}_LIBRARY}"
                                             INTERFACE_INCLUDE_DIRECTORIES "${${library}_INCLUDE_DIR}")
endfunction()

blockzoo_find_library(blockzoo::pcre2 pcre2-8 pcre2.h libpcre2-dev)
blockzoo_find_library(blockzoo::utf8proc utf8proc utf8proc.h libutf8proc-dev)
