/*
 * host.c - memory of this machine.
 */
#include "fit/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t plim_fit_host_available(void)
{
    static const char available[] = "MemAvailable:";
    char line[128];
    uint64_t kib = 0; /* 0 too where the line has no number */
    FILE *const file = fopen("/proc/meminfo", "re");
    if (file == NULL) {
        return 0;
    }
    while (kib == 0 && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, available, strlen(available)) == 0) {
            kib = strtoull(line + strlen(available), NULL, 10);
        }
    }
    (void)fclose(file);
    return kib * 1024;
}
