# Finds LibTorch and offers it as blockzoo::libtorch. Used by this build and by the installed package alike.
#
# LibTorch's binary packages carry headers of other projects (fmt among them) that would shadow the system's, so its
# include folders come last (-idirafter). One OpenMP run time only: the wheel brings its own libgomp, and a second one
# would keep a second pool of spinning threads.
include_guard(GLOBAL)

# LibTorch's config looks for a profiler library that its packages do not ship, and warns; no path here is ever linked.
set(kineto_LIBRARY unused)
find_package(Torch REQUIRED)

if(Torch_VERSION VERSION_LESS 2.6)
  message(FATAL_ERROR "blockzoo needs LibTorch 2.6 or newer; found ${Torch_VERSION} in ${Torch_DIR}")
endif()
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  message(FATAL_ERROR "the LibTorch in ${Torch_DIR} was built with the old std::string ABI, which yaml-cpp and spdlog "
                      "cannot be linked with; use a build with the C++11 ABI (every release since 2.7 has it)")
endif()

# The libraries are named by target, not by TORCH_LIBRARIES: that list is searched for, and where two LibTorch are
# installed the search can mix them.
get_target_property(_torch_lib_dir torch_cpu LOCATION)
get_filename_component(_torch_lib_dir "${_torch_lib_dir}" DIRECTORY)
file(GLOB _torch_gomp "${_torch_lib_dir}/libgomp*.so*")
if(_torch_gomp)
  list(GET _torch_gomp 0 _torch_gomp)  # Debian has two names of one file there
else()
  find_library(_torch_gomp NAMES gomp libgomp.so.1 PATHS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES} REQUIRED NO_CACHE)
endif()

add_library(blockzoo::libtorch INTERFACE IMPORTED)
foreach(_dir IN LISTS TORCH_INCLUDE_DIRS)
  if(NOT _dir IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    target_compile_options(blockzoo::libtorch INTERFACE "SHELL:-idirafter ${_dir}")
  endif()
endforeach()
foreach(_target torch torch_library torch_cpu torch_cpu_library c10 torch_cuda torch_cuda_library c10_cuda)
  if(TARGET ${_target})
    set_target_properties(${_target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "" INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "")
  endif()
endforeach()

# Without -fopenmp at::parallel_for runs serially without a word. clang's OpenMP calls need its own run time; that one
# also answers to libgomp's names, and linked first it serves LibTorch too, so there is still one pool.
set(_torch_openmp ${_torch_gomp})
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  set(_torch_openmp ${OpenMP_CXX_LIBRARIES} ${_torch_gomp})
endif()
target_compile_options(blockzoo::libtorch INTERFACE -fopenmp)
target_link_libraries(blockzoo::libtorch INTERFACE ${_torch_openmp} torch torch_cpu_library c10)
if(TARGET torch_cuda)
  target_link_libraries(blockzoo::libtorch INTERFACE torch_library c10_cuda)
endif()
