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
    set_target_properties(plim_${name} PROPERTIES PLIM_ROOMS "${all}")
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

# Links the objects of rooms, and of all the rooms they use, to a target.
function(plim_link_rooms target)
    foreach(room IN LISTS ARGN)
        get_target_property(all plim_${room} PLIM_ROOMS)
        list(TRANSFORM all PREPEND plim_)
        target_link_libraries(${target} PRIVATE ${all}) # naming one twice does no harm
    endforeach()
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

# plim_add_test(<name> COMMAND <words>...): what all tests have in common.
function(plim_add_test name)
    add_test(NAME ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} ${ARGN})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600
        ENVIRONMENT "ASAN_OPTIONS=handle_segv=2:handle_sigbus=2:detect_stack_use_after_return=1")
endfunction()
