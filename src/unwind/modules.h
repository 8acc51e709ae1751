/*
 * modules.h - the files this process consists of, as libdw sees them; none without libdw.
 *
 * Only files that are there are read, never a server of debug information: a library that looks
 * at a program must not talk to the net. Not for two threads at once.
 */
#ifndef PLIMSOLL_UNWIND_MODULES_H
#define PLIMSOLL_UNWIND_MODULES_H

#include "unwind/libdw.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct plim_modules {
    const plim_libdw *libdw; /* not NULL where dwfl is not */
    Dwfl *dwfl;              /* NULL before the first look */
    /* Modules loaded and unloaded by the time of dwfl's last report. */
    uint64_t loads;
    uint64_t unloads;
} plim_modules;

/* Looks at what is loaded, if that changed since the last time. Pointers that libdw gave before
 * may be gone then. Returns whether it changed. */
bool plim_modules_refresh(plim_modules *modules);
/* NULL where no file is known. */
Dwfl_Module *plim_modules_find(const plim_modules *modules, uint64_t address);
void plim_modules_close(plim_modules *modules);

#endif
