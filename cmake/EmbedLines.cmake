# A text file as an array of C strings, one for each line: cmake -D TEXT=<file> -D OUTPUT=<file.c>
# -D NAME=<array> -P EmbedLines.cmake. Lines are separate strings because ISO C promises no
# string of more than 4095 bytes.
file(READ ${TEXT} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\t" "\\t" text "${text}")
string(REGEX REPLACE "\n$" "" text "${text}")
string(REPLACE "\n" "\",\n    \"" text "${text}")
get_filename_component(name ${TEXT} NAME)
file(WRITE ${OUTPUT} "/* Generated from ${name}: change that. */
#include <stddef.h>

extern const char *const ${NAME}[];
const char *const ${NAME}[] = {
    \"${text}\",
    NULL,
};
")
