/*
 * host.c - memory of this machine.
 */
#include "base/units.h"
#include "fit/search.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t plim_fit_host_available(void)
{
    char line[128];
    uint64_t kib = 0;
    FILE *const file = fopen("/proc/meminfo", "re");
    if (file == NULL) {
        return 0;
    }
    while (fgets(line, sizeof(line), file) != NULL &&
           sscanf(line, "MemAvailable: %" SCNu64, &kib) != 1) {
    }
    (void)fclose(file);
    return kib * 1024;
}
