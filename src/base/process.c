/*
 * process.c - another process, as /proc/<pid>/stat describes it.
 */
#include "base/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* proc(5) numbers the fields from 1: the state is the third. */
#define STATE_FIELD  3
#define PARENT_FIELD 4
#define START_FIELD  22

bool plim_process_parse(const char *text, plim_process *ret)
{
    /* the name before the state may have blanks and brackets, as it likes */
    const char *at = strrchr(text, ')');
    plim_process found = { 0 };
    if (at == NULL) {
        return false;
    }
    at++;
    for (int field = STATE_FIELD; field <= START_FIELD; field++) {
        at += strspn(at, " ");
        if (*at == '\0') {
            return false;
        }
        if (field == STATE_FIELD) {
            found.state = *at;
        } else if (field == PARENT_FIELD) {
            found.parent = strtoll(at, NULL, 10);
        } else if (field == START_FIELD) {
            found.start = strtoull(at, NULL, 10);
        }
        at += strcspn(at, " ");
    }
    *ret = found;
    return true;
}

bool plim_process_read(int64_t pid, plim_process *ret)
{
    char path[64];
    char text[1024];
    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    FILE *const file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    const size_t length = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[length] = '\0';
    return plim_process_parse(text, ret);
}
