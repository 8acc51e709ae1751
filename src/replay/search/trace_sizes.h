/*
 * trace_sizes.h - which sizes a program asks for, and how much of each: where settings that draw
 * lines between sizes can draw them.
 */
#ifndef PLIMSOLL_REPLAY_SEARCH_TRACE_SIZES_H
#define PLIMSOLL_REPLAY_SEARCH_TRACE_SIZES_H

#include "plimsoll/settings.h"
#include "replay/replay.h"

/* Requests of so many MiB and more count as the last. */
#define PLIM_SIZES_MIB ((size_t)64 << 10)
/* Within an interval of roundup_power2_divisions, sizes are counted by one part of so many. */
#define PLIM_SIZES_PARTS ((size_t)1024)

/* Bytes are those of all requests together: traffic, not what lives at once. */
typedef struct plim_trace_sizes {
    const plim_mem *mem;
    uint64_t *mib_bytes;   /* [PLIM_SIZES_MIB]: of requests of i … i + 1 MiB */
    uint64_t *parts_bytes; /* [PLIM_ROUNDUP_INTERVALS * PLIM_SIZES_PARTS] */
    uint64_t total_bytes;
    uint64_t interval_bytes[PLIM_ROUNDUP_INTERVALS];
    uint32_t interval_sizes[PLIM_ROUNDUP_INTERVALS]; /* that differ */
    uint64_t middle_bytes; /* of requests that share large segments: 1 to 10 MiB */
} plim_trace_sizes;

/* Of all devices of a replay. Linear in requests. errors: PLIM_OUT_OF_HOST_MEMORY */
plim_status plim_trace_sizes_init(plim_trace_sizes *sizes, const plim_replay *replay,
                                  const plim_mem *mem, plim_error *err);
/* A zeroed one is allowed. */
void plim_trace_sizes_deinit(plim_trace_sizes *sizes);

/* A size in the middle of a part of an interval. */
uint64_t plim_trace_sizes_part(size_t interval, size_t part);

/* True if any request is rounded otherwise under `settings` than to whole 512 bytes. */
bool plim_replay_has_rounding(const plim_replay *replay, const plim_settings *settings);

#endif
