# SentencePiece's library and LibTorch may each bring a protobuf, and on Debian 13 a program that links both dies before
# main. So a module of our own links the library, and programs open it at run time by its name: in the folder where it was
# built or, once installed, in lib/blockzoo (both are in their run path), and where the system keeps shared libraries.
include(GNUInstallDirs)
blockzoo_find_library(blockzoo::sentencepiece sentencepiece sentencepiece_processor.h libsentencepiece-dev)

set(sentencepiece_module_dir "${CMAKE_INSTALL_LIBDIR}/blockzoo")
add_library(blockzoo_sentencepiece MODULE modules/sentencepiece.cpp)
target_include_directories(blockzoo_sentencepiece PRIVATE src)
target_link_libraries(blockzoo_sentencepiece PRIVATE blockzoo::sentencepiece blockzoo_warnings)
target_compile_options(blockzoo_sentencepiece PRIVATE $<$<CONFIG:Sanitize>:-fno-sanitize=all>)
target_link_options(blockzoo_sentencepiece PRIVATE $<$<CONFIG:Sanitize>:-fno-sanitize=all>)
set_target_properties(blockzoo_sentencepiece PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
if(NOT BLOCKZOO_PARTS)
  install(TARGETS blockzoo_sentencepiece LIBRARY DESTINATION "${sentencepiece_module_dir}")
endif()
if(PROJECT_IS_TOP_LEVEL)
  list(APPEND CMAKE_BUILD_RPATH "${PROJECT_BINARY_DIR}")
endif()

# Whoever links `target` finds the module.
function(opens_sentencepiece target)
  add_dependencies(${target} blockzoo_sentencepiece)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  if(NOT PROJECT_IS_TOP_LEVEL)
    target_link_options(${target} INTERFACE "$<BUILD_INTERFACE:LINKER:-rpath,${PROJECT_BINARY_DIR}>")
  endif()
  target_link_options(${target} INTERFACE "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${sentencepiece_module_dir}>")
endfunction()
