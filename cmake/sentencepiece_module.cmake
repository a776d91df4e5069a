# SentencePiece's library and LibTorch may each bring a protobuf, and on Debian 13 a program that links both dies before
# main. So a module of our own links the library, and programs open it at run time, by its name, in these folders: where
# it was built, where it is installed, and what the system searches for shared libraries.
include(GNUInstallDirs)
blockzoo_find_library(blockzoo::sentencepiece sentencepiece sentencepiece_processor.h libsentencepiece-dev)

set(module_dir "${CMAKE_INSTALL_LIBDIR}/blockzoo")
add_library(blockzoo_sentencepiece MODULE modules/sentencepiece.cpp)
target_include_directories(blockzoo_sentencepiece PRIVATE src)
target_link_libraries(blockzoo_sentencepiece PRIVATE blockzoo::sentencepiece blockzoo_warnings)
target_compile_options(blockzoo_sentencepiece PRIVATE $<$<CONFIG:Sanitize>:-fno-sanitize=all>)
set_target_properties(blockzoo_sentencepiece PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
if(NOT BLOCKZOO_PARTS)
  install(TARGETS blockzoo_sentencepiece LIBRARY DESTINATION "${module_dir}")
endif()

# Whoever links `target` finds the module.
function(opens_sentencepiece target)
  add_dependencies(${target} blockzoo_sentencepiece)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  target_link_options(${target} INTERFACE "$<BUILD_INTERFACE:LINKER:-rpath,${PROJECT_BINARY_DIR}>"
                      "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${module_dir}>")
endfunction()
