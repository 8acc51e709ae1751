# Run by cpack on the installed tree before it is packed: what a Debian package has otherwise than
# `make install`. CPACK_TEMPORARY_DIRECTORY is that tree.
set(usr ${CPACK_TEMPORARY_DIRECTORY}/usr)
set(doc ${usr}/share/doc/plimsoll)

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# dpkg keeps the list of files.
file(REMOVE ${usr}/lib/plimsoll/installed.txt)

# Python finds the package where the command has it: one copy, under two names.
file(MAKE_DIRECTORY ${usr}/lib/python3/dist-packages)
file(CREATE_LINK ../../plimsoll/rehearse/python/plimsoll ${usr}/lib/python3/dist-packages/plimsoll
    SYMBOLIC)

# Pages and the changelog are compressed, without a name and a time in them.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH
file(WRITE ${doc}/changelog.Debian
"plimsoll (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(GLOB pages ${usr}/share/man/man1/*.1)
run(gzip -9n ${pages} ${doc}/changelog.Debian)

# Examples are read here, and copied to be run.
file(GLOB_RECURSE documents LIST_DIRECTORIES false ${doc}/*)
file(CHMOD ${documents} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)

# The licence is in each Debian already.
file(COPY_FILE ${CPACK_PLIMSOLL_SOURCE}/cmake/deb/copyright ${doc}/copyright)
file(REMOVE ${doc}/LICENSE)
file(CREATE_LINK ../../common-licenses/Apache-2.0 ${doc}/LICENSE SYMBOLIC)

# cpack strips programs and shared libraries alone.
file(GLOB_RECURSE archives ${usr}/lib/*.a)
run(strip --strip-debug --enable-deterministic-archives ${archives})
