# What `cmake --install` puts where: the command, both libraries, the headers, and how to find
# them (a CMake package and plimsoll.pc). tests/install builds an example against the result.
include(CMakePackageConfigHelpers)

install(TARGETS plimsoll RUNTIME)
# What rehearsed programs get: found by the command and the library through their own place.
install(TARGETS standin LIBRARY DESTINATION lib/plimsoll/rehearse)
install(DIRECTORY src/agent DESTINATION lib/plimsoll/rehearse
    FILES_MATCHING PATTERN *.py)
install(TARGETS plimsoll_shared plimsoll_static EXPORT plimsollTargets)
install(DIRECTORY include/plimsoll DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/plimsoll)
install(EXPORT plimsollTargets NAMESPACE plimsoll:: DESTINATION ${package_dir})
configure_package_config_file(cmake/plimsollConfig.cmake.in plimsollConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(plimsollConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plimsollConfig.cmake
    ${PROJECT_BINARY_DIR}/plimsollConfigVersion.cmake DESTINATION ${package_dir})

# plimsoll.pc says where it is relative to itself, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(cmake/plimsoll.pc.in plimsoll.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/plimsoll.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
