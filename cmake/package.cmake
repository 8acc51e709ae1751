# The Debian package, by cpack: `make deb`, or `cpack --config build/deb/CPackConfig.cmake` after a build
# of the preset `deb`. One package with all that an install brings; docs/design/packages.md argues for it.
# tests/install/check_deb.py installs it on a bare Debian.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME plimsoll)
set(CPACK_PACKAGE_VENDOR Plimsoll)
set(CPACK_PACKAGE_CONTACT "The Plimsoll authors <plimsoll@plimsoll.invalid>"
    CACHE STRING "The package's maintainer, as \"Name <address>\"")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PACKAGE_DESCRIPTION "Why a program ran out of GPU memory, where the memory went, and whether a
program will fit. The command plimsoll reads error messages, logs and
recordings of PyTorch and others, and rehearses PyTorch programs without a
GPU. With its libraries, their headers and the Python package.")

# Of the libraries that files name, dpkg-shlibdeps knows packages and versions. libdw is looked for at
# run time; Ubuntu 24.04 and Debian 13 call its package libdw1t64. Python is wanted by what runs in
# Python programs alone.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libdw1t64 | libdw1, python3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gcc, pkg-config")

file(WRITE ${PROJECT_BINARY_DIR}/deb/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/deb/triggers
    ${PROJECT_SOURCE_DIR}/cmake/deb/postinst ${PROJECT_SOURCE_DIR}/cmake/deb/prerm)

# The tree as Debian wants it.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/deb/layout.cmake)
set(CPACK_PLIMSOLL_SOURCE ${PROJECT_SOURCE_DIR})
include(CPack)
