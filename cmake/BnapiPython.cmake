# pybn_api._lib, the cffi module (API mode) over the public headers, and pybn_api._caller, which makes planned calls
# cheap. One abi3 file of each serves every Python from 3.10 on; free-threaded interpreters have no stable ABI and get
# files of their own.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(
  COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))))"
  OUTPUT_VARIABLE free_threaded
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY
)

set(module_source ${PROJECT_BINARY_DIR}/python/_lib.c)
add_custom_command(
  OUTPUT ${module_source}
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/cffi_module.py ${PROJECT_SOURCE_DIR}/include/bn_api.h
          ${module_source} --depfile ${module_source}.d
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/cffi_module.py ${PROJECT_SOURCE_DIR}/include/bn_api.h
  DEPFILE ${module_source}.d
  COMMENT "Generating the Python module's source from the public headers"
  VERBATIM
)

set(package_dir ${PROJECT_BINARY_DIR}/python/pybn_api)

# A module of the package: Python's side of the library, or what makes calls of it quick.
function(bnapi_python_module target name)
  Python_add_library(${target} MODULE ${ARGN})
  set_target_properties(
    ${target}
    PROPERTIES OUTPUT_NAME ${name}
               LIBRARY_OUTPUT_DIRECTORY ${package_dir}
               INSTALL_RPATH "$ORIGIN/${CMAKE_INSTALL_LIBDIR}"
  )
  if(free_threaded)
    set_target_properties(${target} PROPERTIES SUFFIX ".${Python_SOABI}.so")
  else()
    set_target_properties(${target} PROPERTIES SUFFIX ".abi3.so")
    target_compile_definitions(${target} PRIVATE Py_LIMITED_API=0x030a0000)
  endif()
  target_compile_options(${target} PRIVATE -fvisibility=hidden)
endfunction()

bnapi_python_module(pybn_api_lib _lib ${module_source})
# Generated code: its warnings are cffi's affair.
target_compile_options(pybn_api_lib PRIVATE -w)
target_link_libraries(pybn_api_lib PRIVATE bn_api)

bnapi_python_module(pybn_api_caller _caller ${PROJECT_SOURCE_DIR}/csrc/python/caller.c)
target_include_directories(pybn_api_caller PRIVATE ${PROJECT_SOURCE_DIR}/include)

add_custom_target(
  pybn_api_package ALL
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/link_package.py ${PROJECT_SOURCE_DIR}/pybn_api
          ${package_dir}
  DEPENDS pybn_api_lib pybn_api_caller
  COMMENT "Laying out the Python package beside its module"
  VERBATIM
)

# The wheel's prefix is the package directory; `make install` leaves Python alone.
if(SKBUILD)
  install(TARGETS pybn_api_lib pybn_api_caller LIBRARY DESTINATION .)
endif()
