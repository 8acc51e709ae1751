/*
 * counted.h - "1 event", "41,203 events".
 */
#ifndef PLIMSOLL_REPORT_COUNTED_H
#define PLIMSOLL_REPORT_COUNTED_H

#include <stdint.h>

typedef struct plim_counted_text {
    char text[64];
} plim_counted_text;

/** A number and its noun, which takes an s unless there is one; by value, for use in a call. */
plim_counted_text plim_counted(uint64_t count, const char *noun);

#endif
