# Finds LibTorch and offers it as blockzoo_libtorch. Used by this build and by the installed package alike.
#
# LibTorch's binary packages carry headers of other projects (fmt among them) that would shadow the system's, so its
# include folders come last (-idirafter). One OpenMP run time only: the wheel brings its own libgomp, and a second one
# would keep a second pool of spinning threads.

find_package(Torch REQUIRED)

if(Torch_VERSION VERSION_LESS 2.6)
  message(FATAL_ERROR "blockzoo needs LibTorch 2.6 or newer; found ${Torch_VERSION} in ${Torch_DIR}")
endif()
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  message(FATAL_ERROR "this LibTorch was built with the old std::string ABI, which the system's yaml-cpp and spdlog "
                      "cannot be linked with; use a build with the C++11 ABI (every release since 2.6 has one)")
endif()

find_library(BLOCKZOO_TORCH_LIBRARY torch HINTS "${TORCH_INSTALL_PREFIX}/lib" NO_CACHE)
get_filename_component(_torch_lib_dir "${BLOCKZOO_TORCH_LIBRARY}" DIRECTORY)
file(GLOB _torch_gomp "${_torch_lib_dir}/libgomp*.so*")
if(NOT _torch_gomp)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  set(_torch_gomp "${OpenMP_CXX_LIBRARIES}")
endif()

add_library(blockzoo_libtorch INTERFACE)
foreach(_dir IN LISTS TORCH_INCLUDE_DIRS)
  target_compile_options(blockzoo_libtorch INTERFACE "SHELL:-idirafter ${_dir}")
endforeach()
foreach(_target torch torch_library torch_cpu torch_cpu_library c10 torch_cuda torch_cuda_library c10_cuda)
  if(TARGET ${_target})
    set_target_properties(${_target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "" INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "")
  endif()
endforeach()
target_compile_options(blockzoo_libtorch INTERFACE -fopenmp)
target_link_libraries(blockzoo_libtorch INTERFACE ${TORCH_LIBRARIES} ${_torch_gomp})
