# What `make install` and the wheel lay down, all of it relative to the prefix.
include(CMakePackageConfigHelpers)

install(TARGETS bn_api EXPORT bn_api-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/bn_api.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/bn_api DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bn_api)
install(EXPORT bn_api-targets NAMESPACE bn_api:: DESTINATION ${cmake_dir})
configure_package_config_file(
  cmake/bn_api-config.cmake.in ${PROJECT_BINARY_DIR}/bn_api-config.cmake INSTALL_DESTINATION ${cmake_dir}
)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bn_api-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bn_api-config.cmake ${PROJECT_BINARY_DIR}/bn_api-config-version.cmake
        DESTINATION ${cmake_dir}
)

configure_file(cmake/bn_api.pc.in ${PROJECT_BINARY_DIR}/bn_api.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bn_api.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
