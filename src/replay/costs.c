/*
 * costs.c - what driver calls cost where nobody has measured them: docs/design/replay-costs.md has
 * where each number comes from, and which are guesses.
 */
#include "plimsoll/replay.h"

plim_driver_costs plim_driver_costs_default(void)
{
    return (plim_driver_costs){
        .call_us = {
            [PLIM_CALL_MEMORY_ALLOC] = 50,
            [PLIM_CALL_MEMORY_FREE] = 57,
            [PLIM_CALL_RANGE_RESERVE] = 14,
            [PLIM_CALL_RANGE_FREE] = 1,
            [PLIM_CALL_HANDLE_CREATE] = 28,
            [PLIM_CALL_HANDLE_RELEASE] = 23,
            [PLIM_CALL_HANDLE_EXPORT] = 10,
            [PLIM_CALL_MAP] = 2,
            [PLIM_CALL_UNMAP] = 34,
            [PLIM_CALL_SET_ACCESS] = 37,
            [PLIM_CALL_STREAM_SYNC] = 10,
            [PLIM_CALL_DEVICE_SYNC] = 10,
            [PLIM_CALL_FENCE_CREATE] = 1,
            [PLIM_CALL_FENCE_DESTROY] = 1,
            [PLIM_CALL_FENCE_RECORD] = 1,
            [PLIM_CALL_FENCE_QUERY] = 1,
            [PLIM_CALL_FENCE_SYNC] = 5,
            [PLIM_CALL_INFO] = 9,
        },
        .mib_us = {
            [PLIM_CALL_MEMORY_ALLOC] = 0.8,
            [PLIM_CALL_HANDLE_CREATE] = 0.65,
            [PLIM_CALL_SET_ACCESS] = 0.55,
        },
    };
}
