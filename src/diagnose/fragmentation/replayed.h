/*
 * replayed.h - the recording's requests on the device that was given.
 */
#ifndef PLIMSOLL_DIAGNOSE_FRAGMENTATION_REPLAYED_H
#define PLIMSOLL_DIAGNOSE_FRAGMENTATION_REPLAYED_H

#include "diagnose/case/case.h"

typedef struct plim_replayed_failure {
    uint64_t event; /* of the recording */
    uint64_t requested_bytes;
    uint64_t reserved_bytes; /* then */
    uint64_t allocated_bytes;
} plim_replayed_failure;

/*
 * Runs the history again at the given capacity, under its own settings. ret_fails: a request fails
 * there because of fragmentation. What cannot be replayed does not fail.
 * Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_replay_at_capacity(const plim_case *one, bool *ret_fails,
                                    plim_replayed_failure *ret_failure, plim_error *err);

#endif
