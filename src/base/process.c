/*
 * process.c - another process, as /proc/<pid>/stat describes it.
 */
#include "base/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool plim_process_parse(const char *text, plim_process *ret)
{
    /* pid (name) state parent … start: the name may have blanks and brackets, as it likes */
    const char *const end_of_name = strrchr(text, ')');
    plim_process found = { 0 };
    if (end_of_name == NULL ||
        sscanf(end_of_name + 1,
               " %c %" SCNd64 " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
               "%*s %" SCNu64,
               &found.state, &found.parent, &found.start) != 3) {
        return false;
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
