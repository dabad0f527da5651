# BNAPI_CUDA_ENABLED: is the CUDA backend part of this build? Enables the CUDA language if so.
#
#   on    always; without an nvcc, the compiler comes from PyPI
#   auto  where an nvcc or a driver is found; a compiler that cannot be had costs a message, not the build
#   off   never
#
# BNAPI_CUDA_FETCH=ON takes the compiler from PyPI even where there is one.
#
# The compiler's wheels (about 130 MB) are pinned, and are unpacked into the build tree once.
set(BNAPI_CUDA_WHEELS
    nvidia-cuda-nvcc==13.0.88
    nvidia-cuda-crt==13.0.88
    nvidia-nvvm==13.0.88
    nvidia-cuda-cccl==13.0.85
    nvidia-cuda-runtime==13.0.96
)

# bnapi_find_nvcc(<variable>): the compiler that the caller names, or the one on this machine, or nothing.
function(bnapi_find_nvcc result)
  if(BNAPI_CUDA_FETCH)
    set(found "")
  elseif(CMAKE_CUDA_COMPILER)
    set(found ${CMAKE_CUDA_COMPILER})
  elseif(DEFINED ENV{CUDACXX})
    set(found $ENV{CUDACXX})
  else()
    find_program(BNAPI_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(BNAPI_NVCC)
    set(found ${BNAPI_NVCC})
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# bnapi_fetch_nvcc(<variable>): the compiler from PyPI, or nothing, with the reason in <variable>_ERROR.
function(bnapi_fetch_nvcc result)
  set(directory ${PROJECT_BINARY_DIR}/nvcc)
  set(nvcc ${directory}/nvidia/cu13/bin/nvcc)
  set(stamp ${directory}/complete)
  string(MD5 wanted "${BNAPI_CUDA_WHEELS}")
  set(present "")
  if(EXISTS ${stamp})
    file(READ ${stamp} present)
  endif()
  if(NOT present STREQUAL wanted)
    message(STATUS "Fetching NVIDIA's compiler from PyPI (about 130 MB, once)")
    find_package(Python 3.10 QUIET COMPONENTS Interpreter)
    file(REMOVE_RECURSE ${directory})
    execute_process(
      COMMAND ${Python_EXECUTABLE} -m pip install --quiet --disable-pip-version-check --no-deps --only-binary=:all:
              --target ${directory} ${BNAPI_CUDA_WHEELS}
      RESULT_VARIABLE status
      ERROR_VARIABLE errors
      OUTPUT_QUIET
    )
    if(NOT status EQUAL 0)
      set(${result} "" PARENT_SCOPE)
      set(${result}_ERROR "pip could not fetch it: ${errors}" PARENT_SCOPE)
      return()
    endif()
    # The wheels say lib, the compiler looks in lib64.
    file(CREATE_LINK lib ${directory}/nvidia/cu13/lib64 SYMBOLIC)
    file(WRITE ${stamp} "${wanted}")
  endif()
  set(${result} ${nvcc} PARENT_SCOPE)
endfunction()

option(BNAPI_CUDA_FETCH "Take nvcc from PyPI even where there is one" OFF)
mark_as_advanced(BNAPI_CUDA_FETCH)
set(BNAPI_CUDA_ENABLED OFF)
if(BNAPI_CUDA STREQUAL "off")
  return()
endif()

bnapi_find_nvcc(nvcc)
if(NOT nvcc AND (BNAPI_CUDA STREQUAL "on" OR EXISTS /proc/driver/nvidia/version OR EXISTS /dev/nvidiactl))
  bnapi_fetch_nvcc(nvcc)
  if(NOT nvcc)
    if(BNAPI_CUDA STREQUAL "on")
      message(FATAL_ERROR "BNAPI_CUDA=on needs NVIDIA's nvcc (CUDA 13): ${nvcc_ERROR}")
    endif()
    message(WARNING "There is a GPU driver here, and no nvcc; building for the CPU only. ${nvcc_ERROR}")
  endif()
endif()

if(nvcc)
  message(STATUS "CUDA backend: built with ${nvcc}")
  set(CMAKE_CUDA_COMPILER ${nvcc} CACHE FILEPATH "CUDA compiler")
  # Real code for every chip from Ampere on, and PTX of the newest for what comes later.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 86-real 89-real 90-real 100-real 120)
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  set(BNAPI_CUDA_ENABLED ON)
else()
  message(STATUS "CUDA backend: left out (no nvcc, no driver; BNAPI_CUDA=on builds it anyway)")
endif()
