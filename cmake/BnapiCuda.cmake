# Finds, or fetches, the CUDA compiler. Sets BNAPI_CUDA_ENABLED and enables the CUDA language where the backend is to
# be built:
#   BNAPI_CUDA=auto   where nvcc is installed, or where there is an NVIDIA driver (the compiler is then fetched)
#   BNAPI_CUDA=on     always; without nvcc the compiler is fetched
#   BNAPI_CUDA=off    never
# Fetching means NVIDIA's own wheels from the Python package index, pinned, into the build tree.

set(BNAPI_CUDA_ENABLED OFF)
set(BNAPI_CUDA_ARCHITECTURES "80-real;86-real;89-real;90-real;100;120-real" CACHE STRING
    "GPU architectures: machine code for those that exist, and code for the driver to compile for later ones"
)
option(BNAPI_CUDA_FETCH "Use the fetched CUDA compiler even where one is installed" OFF)

set(bnapi_cuda_wheels nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
                      nvidia-cuda-cccl==13.0.85 nvidia-cuda-runtime==13.0.96
)
set(bnapi_cuda_least_version 13.0) # the first that knows all of the architectures

# Sets <result> to an nvcc that is installed and new enough, else to "".
function(bnapi_find_nvcc result)
  set(${result} "" PARENT_SCOPE)
  if(CMAKE_CUDA_COMPILER)
    set(nvcc ${CMAKE_CUDA_COMPILER})
  elseif(BNAPI_CUDA_FETCH)
    return()
  else()
    find_program(BNAPI_NVCC nvcc HINTS $ENV{CUDACXX} ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(BNAPI_NVCC)
    set(nvcc ${BNAPI_NVCC})
  endif()
  if(NOT nvcc)
    return()
  endif()
  execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" found "${text}")
  if(NOT found OR CMAKE_MATCH_1 VERSION_LESS bnapi_cuda_least_version)
    message(STATUS "CUDA: passing over ${nvcc}: version ${bnapi_cuda_least_version} or later is needed")
    return()
  endif()
  set(${result} ${nvcc} PARENT_SCOPE)
endfunction()

# Installs the wheels below the build tree, once, and sets <result> to the nvcc in them, or to "".
function(bnapi_fetch_nvcc result)
  set(${result} "" PARENT_SCOPE)
  set(root ${PROJECT_BINARY_DIR}/cuda_toolchain)
  set(nvcc ${root}/nvidia/cu13/bin/nvcc)
  if(NOT EXISTS ${root}/complete)
    find_program(BNAPI_PYTHON_FOR_FETCH NAMES python3 python HINTS ${Python_EXECUTABLE} ${Python3_EXECUTABLE})
    mark_as_advanced(BNAPI_PYTHON_FOR_FETCH)
    if(NOT BNAPI_PYTHON_FOR_FETCH)
      message(STATUS "CUDA: fetching the compiler needs python3, which is not installed")
      return()
    endif()
    message(STATUS "CUDA: fetching the compiler (about 130 MB)")
    set(python ${BNAPI_PYTHON_FOR_FETCH})
    execute_process(COMMAND ${python} -m pip --version RESULT_VARIABLE no_pip OUTPUT_QUIET ERROR_QUIET)
    if(no_pip)
      # An isolated build environment has no pip of its own, but can make one.
      execute_process(COMMAND ${python} -m venv ${root}/python OUTPUT_QUIET)
      set(python ${root}/python/bin/python)
    endif()
    execute_process(
      COMMAND ${python} -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target ${root}
              ${bnapi_cuda_wheels} RESULT_VARIABLE failed
    )
    if(failed OR NOT EXISTS ${nvcc})
      message(STATUS "CUDA: the compiler could not be fetched")
      return()
    endif()
    file(TOUCH ${root}/complete)
  endif()
  set(${result} ${nvcc} PARENT_SCOPE)
endfunction()

# Does it compile a kernel with the host compiler of this machine?
function(bnapi_try_nvcc nvcc result)
  set(source ${PROJECT_BINARY_DIR}/cuda_check.cu)
  file(WRITE ${source} "#include <cuda_runtime.h>\n__global__ void kernel(int* x) { *x = threadIdx.x; }\n")
  execute_process(
    COMMAND ${nvcc} -ccbin ${CMAKE_CXX_COMPILER} -arch=sm_80 -c ${source} -o ${PROJECT_BINARY_DIR}/cuda_check.o
    RESULT_VARIABLE failed ERROR_VARIABLE text OUTPUT_VARIABLE text
  )
  if(failed)
    message(STATUS "CUDA: ${nvcc} does not work with ${CMAKE_CXX_COMPILER}:\n${text}")
    set(${result} OFF PARENT_SCOPE)
  else()
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

string(TOLOWER "${BNAPI_CUDA}" bnapi_cuda)
if(bnapi_cuda MATCHES "^(off|no|false|0)$")
  message(STATUS "CUDA: off")
  return()
endif()

bnapi_find_nvcc(bnapi_nvcc)
if(NOT bnapi_nvcc)
  if(bnapi_cuda STREQUAL "auto" AND NOT EXISTS /proc/driver/nvidia/version AND NOT EXISTS /dev/nvidiactl AND NOT BNAPI_CUDA_FETCH)
    message(STATUS "CUDA: not built; there is neither nvcc nor an NVIDIA driver on this machine (BNAPI_CUDA=on builds it)")
    return()
  endif()
  bnapi_fetch_nvcc(bnapi_nvcc)
endif()
if(bnapi_nvcc)
  bnapi_try_nvcc(${bnapi_nvcc} bnapi_nvcc_works)
endif()
if(NOT bnapi_nvcc OR NOT bnapi_nvcc_works)
  if(bnapi_cuda STREQUAL "auto")
    message(WARNING "CUDA: there is an NVIDIA driver or compiler, but the CUDA backend cannot be built; see above")
    return()
  endif()
  message(FATAL_ERROR "CUDA: BNAPI_CUDA=${BNAPI_CUDA}, but there is no compiler that works; see above")
endif()

message(STATUS "CUDA: building with ${bnapi_nvcc}")
set(CMAKE_CUDA_COMPILER ${bnapi_nvcc} CACHE FILEPATH "CUDA compiler")
set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER} CACHE FILEPATH "Host compiler of the CUDA compiler")
set(CMAKE_CUDA_ARCHITECTURES ${BNAPI_CUDA_ARCHITECTURES})
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(BNAPI_CUDA_ENABLED ON)
