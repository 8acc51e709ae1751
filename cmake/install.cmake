# What `cmake --install` puts where: the command, the libraries, the headers, and how to find them (a
# CMake package, plimsoll.pc and plimsoll-core.pc). tests/install builds programs against the result.
include(CMakePackageConfigHelpers)

install(TARGETS plimsoll RUNTIME)
# What rehearsed programs get: found by the command and the library through their own place.
install(TARGETS standin LIBRARY DESTINATION lib/plimsoll/rehearse)
install(DIRECTORY src/agent DESTINATION lib/plimsoll/rehearse
    FILES_MATCHING PATTERN *.py)
install(TARGETS core_shared core_static EXPORT plimsoll-core)
install(TARGETS plimsoll_shared plimsoll_static EXPORT plimsoll)
install(DIRECTORY include/plimsoll DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)

# Named in lower case with a hyphen, so that find_package(plimsoll) and (Plimsoll) both find it.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/plimsoll)
foreach(export IN ITEMS plimsoll-core plimsoll)
    install(EXPORT ${export} FILE ${export}-targets.cmake NAMESPACE plimsoll::
        DESTINATION ${package_dir})
endforeach()
configure_package_config_file(cmake/plimsoll-config.cmake.in plimsoll-config.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(plimsoll-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plimsoll-config.cmake
    ${PROJECT_BINARY_DIR}/plimsoll-config-version.cmake DESTINATION ${package_dir})

# The .pc files say where they are relative to themselves, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
if(lzma_FOUND)
    set(lzma_requires liblzma)
else()
    set(lzma_requires "")
endif()
if(BZip2_FOUND)
    set(bzip2_libs -lbz2)
else()
    set(bzip2_libs "")
endif()
foreach(name IN ITEMS plimsoll-core plimsoll)
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
