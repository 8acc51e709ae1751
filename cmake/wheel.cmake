# What a wheel of Python has beside the package's own files, all of it in plimsoll/_native: the command,
# the stand-ins and the agent as a build tree has them, the libraries and their headers. A wheel holds no
# symbolic links, so each library has one name.
set(native plimsoll/_native)
install(TARGETS plimsoll RUNTIME DESTINATION ${native} COMPONENT wheel)
install(TARGETS standin LIBRARY DESTINATION ${native}/rehearse COMPONENT wheel)
install(DIRECTORY src/agent DESTINATION ${native}/rehearse COMPONENT wheel
    FILES_MATCHING PATTERN *.py)
install(FILES ${PROJECT_BINARY_DIR}/rehearse/agent/plimsoll_agent/release.py
    DESTINATION ${native}/rehearse/agent/plimsoll_agent COMPONENT wheel)
set_property(TARGET core_shared plimsoll_shared PROPERTY VERSION)
set_property(TARGET core_shared plimsoll_shared PROPERTY SOVERSION)
set_target_properties(core_shared plimsoll_shared PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN") # the one finds the other beside it
install(TARGETS core_shared plimsoll_shared LIBRARY DESTINATION ${native}/lib COMPONENT wheel)
install(DIRECTORY include/plimsoll DESTINATION ${native}/include COMPONENT wheel
    FILES_MATCHING PATTERN *.h)
