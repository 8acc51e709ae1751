# What `cmake --install` puts where: the command with its man pages and completions, the libraries, the
# headers and how to find them (a CMake package, plimsoll.pc and plimsoll-core.pc), the documents.
# tests/install builds programs against the result, and removes it again.
include(CMakePackageConfigHelpers)

install(TARGETS plimsoll RUNTIME)
# What rehearsed programs get: found by the command and the library through their own place.
install(TARGETS standin LIBRARY DESTINATION lib/plimsoll/rehearse)
install(DIRECTORY src/agent DESTINATION lib/plimsoll/rehearse
    FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/rehearse/agent/plimsoll_agent/release.py
    DESTINATION lib/plimsoll/rehearse/agent/plimsoll_agent)
install(DIRECTORY python DESTINATION lib/plimsoll/rehearse
    FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)
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
# Programs that link statically name these libraries. Not as Requires.private: pkg-config would then refuse
# those that do not, where the libraries' own .pc files are missing.
set(private_libs ${zlib_LDFLAGS} ${zstd_LDFLAGS} ${lzma_LDFLAGS} ${yajl_LDFLAGS} ${sqlite3_LDFLAGS}
    ${protobuf_c_LDFLAGS})
if(BZip2_FOUND)
    list(APPEND private_libs -lbz2)
endif()
list(JOIN private_libs " " private_libs)
foreach(name IN ITEMS plimsoll-core plimsoll)
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# Man pages and completions are made of the command's own help.
if(NOT CMAKE_CROSSCOMPILING)
    set(pages plimsoll.1 plimsoll.bash plimsoll.fish _plimsoll)
    file(GLOB commands RELATIVE ${PROJECT_SOURCE_DIR}/src/cli ${PROJECT_SOURCE_DIR}/src/cli/cmd_*.c)
    list(TRANSFORM commands REPLACE "cmd_(.*)\\.c" "plimsoll-\\1.1")
    list(APPEND pages ${commands})
    list(TRANSFORM pages PREPEND ${PROJECT_BINARY_DIR}/pages/)
    add_custom_command(OUTPUT ${pages} DEPENDS plimsoll cmake/pages.sh VERBATIM
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        COMMAND cmake/pages.sh $<TARGET_FILE:plimsoll> ${PROJECT_BINARY_DIR}/pages)
    add_custom_target(pages ALL DEPENDS ${pages})
    list(FILTER pages INCLUDE REGEX "\\.1$")
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${PROJECT_BINARY_DIR}/pages/plimsoll.bash RENAME plimsoll
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${PROJECT_BINARY_DIR}/pages/_plimsoll
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${PROJECT_BINARY_DIR}/pages/plimsoll.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# Beside each other as they are here, so that their links hold.
set(doc_dir ${CMAKE_INSTALL_DATADIR}/doc/plimsoll)
install(FILES LICENSE NOTICE README.md ARCHITECTURE.md DESTINATION ${doc_dir})
install(DIRECTORY docs examples DESTINATION ${doc_dir} PATTERN api EXCLUDE
    PATTERN __pycache__ EXCLUDE)

# The last step of an install: a list of what it put there, for uninstalling.
install(CODE [[
    set(lines "")
    foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
        file(RELATIVE_PATH file "${CMAKE_INSTALL_PREFIX}" "${file}")
        string(APPEND lines "${file}\n")
    endforeach()
    file(WRITE "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/plimsoll/installed.txt" "${lines}")
]])
add_custom_target(uninstall VERBATIM
    COMMAND ${CMAKE_COMMAND} -D PREFIX=${CMAKE_INSTALL_PREFIX}
            -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
