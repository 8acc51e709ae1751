# The words this build is written in: plim_room, plim_test, plim_fuzz, plim_bench.

# What everything we compile has in common, as a target that is linked to.
add_library(plim_house INTERFACE)
target_include_directories(plim_house INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(plim_house INTERFACE PLIM_VERSION="${PROJECT_VERSION}"
    $<$<BOOL:${PLIM_PARANOID}>:PLIM_PARANOID=1>)
target_compile_options(plim_house INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wcast-qual -Wswitch-enum
    $<$<CONFIG:Release>:-g1>) # line numbers in backtraces, at no cost at run time
if(PLIM_SANITIZE)
    target_compile_options(plim_house INTERFACE -fsanitize=${PLIM_SANITIZE}
        -fno-sanitize-recover=all -fno-omit-frame-pointer
        $<$<BOOL:${PLIM_LIBFUZZER}>:-fsanitize=fuzzer-no-link>)
    target_link_options(plim_house INTERFACE -fsanitize=${PLIM_SANITIZE})
endif()

# plim_room(<name> FLOOR <n> [USES <rooms>...] [HEADERS <public headers>...] [FOLDERS <folders>...]
#     FILES <files>... [LIBS <targets>...] [DEFINES <D>...])
# A folder of src/, compiled to objects. USES names the rooms whose headers it may include, HEADERS
# those of include/plimsoll that are its own, FOLDERS its folders, the lowest first: each may include
# those before it (tests/layering holds it to all three); DEFINES is for feature macros such as
# _GNU_SOURCE.
function(plim_room name)
    cmake_parse_arguments(PARSE_ARGV 1 room "" "FLOOR" "USES;HEADERS;FOLDERS;FILES;LIBS;DEFINES")
    list(TRANSFORM room_FILES PREPEND ${name}/)
    add_library(plim_${name} OBJECT ${room_FILES})
    set_target_properties(plim_${name} PROPERTIES
        POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    target_compile_definitions(plim_${name} PRIVATE ${room_DEFINES})
    target_link_libraries(plim_${name} PUBLIC plim_house ${room_LIBS})
    set(all ${name})
    foreach(below IN LISTS room_USES)
        get_target_property(their plim_${below} PLIM_ROOMS)
        list(APPEND all ${their})
    endforeach()
    list(REMOVE_DUPLICATES all)
    set_target_properties(plim_${name} PROPERTIES PLIM_ROOMS "${all}" PLIM_HEADERS "${room_HEADERS}")
endfunction()

# Makes a text file of a room part of it, as an array of its lines: see EmbedLines.cmake.
function(plim_embed_lines room text array)
    get_filename_component(name ${text} NAME)
    set(input ${CMAKE_CURRENT_SOURCE_DIR}/${text})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
    set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedLines.cmake)
    add_custom_command(OUTPUT ${output} DEPENDS ${input} ${script} VERBATIM
        COMMAND ${CMAKE_COMMAND} -D TEXT=${input} -D OUTPUT=${output} -D NAME=${array}
                -P ${script})
    target_sources(plim_${room} PRIVATE ${output})
endfunction()

# Makes messages of a .proto file part of a room: protoc-c writes <name>.pb-c.h and .c, which are not
# ours to warn of.
function(plim_messages room proto)
    get_filename_component(name ${proto} NAME_WE)
    set(input ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
    get_filename_component(folder ${input} DIRECTORY)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/messages)
    file(MAKE_DIRECTORY ${output})
    add_custom_command(OUTPUT ${output}/${name}.pb-c.c ${output}/${name}.pb-c.h DEPENDS ${input}
        VERBATIM COMMAND ${PROTOC_C} --c_out=${output} --proto_path=${folder} ${input})
    set_source_files_properties(${output}/${name}.pb-c.c PROPERTIES COMPILE_OPTIONS -w)
    target_sources(plim_${room} PRIVATE ${output}/${name}.pb-c.c ${output}/${name}.pb-c.h)
    target_include_directories(plim_${room} SYSTEM PRIVATE ${output})
endfunction()

# Links the objects of rooms, and of all the rooms they use, to a target.
function(plim_link_rooms target)
    foreach(room IN LISTS ARGN)
        get_target_property(all plim_${room} PLIM_ROOMS)
        list(TRANSFORM all PREPEND plim_)
        target_link_libraries(${target} PRIVATE ${all}) # naming one twice does no harm
    endforeach()
endfunction()

# plim_library(<target> <name> ROOMS <rooms>... LIBS <targets>... [NEEDS <target>])
# lib<name>.so and lib<name>.a, as targets <target>_shared and <target>_static, of rooms alone;
# what is theirs of another such library, that one has.
function(plim_library target name)
    cmake_parse_arguments(PARSE_ARGV 2 library "" "NEEDS" "ROOMS;LIBS")
    list(TRANSFORM library_ROOMS REPLACE "(.+)" "$<TARGET_OBJECTS:plim_\\1>" OUTPUT_VARIABLE objects)
    foreach(kind IN ITEMS shared static)
        string(TOUPPER ${kind} type)
        add_library(${target}_${kind} ${type} ${objects})
        set_target_properties(${target}_${kind} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C)
        target_link_libraries(${target}_${kind} PRIVATE $<BUILD_INTERFACE:plim_house> ${library_LIBS})
        if(library_NEEDS)
            target_link_libraries(${target}_${kind} PUBLIC ${library_NEEDS}_${kind})
        endif()
        target_include_directories(${target}_${kind} INTERFACE
            $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    endforeach()
    set_target_properties(${target}_shared PROPERTIES EXPORT_NAME ${target}
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    if(NOT PLIM_SANITIZE) # sanitizers leave their own symbols to the program
        target_link_options(${target}_shared PRIVATE LINKER:-z,defs)
    endif()
endfunction()

# plim_export_core(<target> <rooms>): the other library calls functions of these rooms that no public
# header has. They are visible under a version of their own, PLIMSOLL_PRIVATE_<release>, so that
# only libraries of one release go together, and that programs do not take them for promised.
function(plim_export_core target rooms)
    set(headers "")
    foreach(room IN LISTS rooms)
        set_target_properties(plim_${room} PROPERTIES C_VISIBILITY_PRESET protected)
        get_target_property(theirs plim_${room} PLIM_HEADERS)
        list(APPEND headers ${theirs})
    endforeach()
    list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/include/plimsoll/)
    set(public "")
    foreach(header IN LISTS headers)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
        file(READ ${header} text)
        string(REPLACE ";" "|" text "${text}")
        string(REGEX MATCHALL "PLIM_API[^|(#]*[ *]plim_[a-z0-9_]+\\(" found "${text}")
        list(TRANSFORM found REPLACE "^.*[ *](plim_[a-z0-9_]+)\\($" "\\1")
        list(APPEND public ${found})
    endforeach()
    list(JOIN public ";\n    " public)
    set(script ${PROJECT_BINARY_DIR}/plimsoll-core.map)
    file(CONFIGURE OUTPUT ${script} @ONLY CONTENT "PLIMSOLL_@PROJECT_VERSION_MAJOR@ {
global:
    @public@;
local:
    *;
};
PLIMSOLL_PRIVATE_@PROJECT_VERSION@ {
global:
    plim_*;
};
")
    target_link_options(${target}_shared PRIVATE LINKER:--version-script,${script})
    set_target_properties(${target}_shared PROPERTIES LINK_DEPENDS ${script})
endfunction()

# plim_test(<name> USES <rooms>... FILES <files>... [LIBS <targets>...])
# One cmocka executable, run by ctest from the top of the tree; exit status 77 means skipped.
function(plim_test name)
    cmake_parse_arguments(PARSE_ARGV 1 test "" "" "USES;FILES;LIBS")
    add_executable(test_${name} ${test_FILES})
    target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(test_${name} PRIVATE _GNU_SOURCE)
    target_link_libraries(test_${name} PRIVATE plim_house PkgConfig::cmocka ${test_LIBS})
    plim_link_rooms(test_${name} ${test_USES})
    plim_add_test(${name} COMMAND test_${name})
endfunction()

# plim_add_test(<name> COMMAND <words>...): what all tests have in common. Under sanitizers, tests of
# many like cases try one of so many: tests/share.py and t_share() of tests/harness.h.
function(plim_add_test name)
    add_test(NAME ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} ${ARGN})
    set(environment ASAN_OPTIONS=handle_segv=2:handle_sigbus=2:detect_stack_use_after_return=1)
    if(PLIM_SANITIZE)
        list(APPEND environment PLIM_TEST_SHARE=4)
    endif()
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600
        ENVIRONMENT "${environment}")
endfunction()
