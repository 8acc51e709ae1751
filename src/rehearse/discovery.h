/*
 * discovery.h - what a Python has that wants CUDA: asked of it before the program runs.
 */
#ifndef PLIMSOLL_REHEARSE_DISCOVERY_H
#define PLIMSOLL_REHEARSE_DISCOVERY_H

#include "base/arena.h"

#include "plimsoll/status.h"

typedef struct plim_discovery {
    const char *torch;     /* its version; NULL: this Python has none */
    uint32_t cuda_version; /* as in stage/stage.h; 0 if unknown */
    uint32_t cudnn_version;
    uint32_t nccl_version;
    const char *const *objects; /* ELF files that may want CUDA */
    size_t object_count;
} plim_discovery;

/*
 * Runs agent/discover.py with a Python.
 *
 * arena   of what is found
 * errors  PLIM_IO: it cannot be run; PLIM_CORRUPT: what it says is not understood
 */
PLIM_MUST_USE plim_status plim_discover(const char *python, const char *home, plim_arena *arena,
                                        plim_discovery *ret, plim_error *err);

#endif
