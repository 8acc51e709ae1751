/*
 * read.h - what PyTorch's profiler exports, as histories: traces with memory events
 * (docs/formats/kineto.md) and memory timelines (docs/formats/memory-timeline.md).
 */
#ifndef PLIMSOLL_PROFILER_READ_H
#define PLIMSOLL_PROFILER_READ_H

#include "base/input.h"

#include "plimsoll/history.h"

#include <stdbool.h>

/* Bytes that plim_profiler_looks_like() wants to see. */
#define PLIM_PROFILER_BYTES_SEEN ((size_t)4096)

/* True if a file begins as one of the profiler's exports does; snapshots in JSON do not. */
bool plim_profiler_looks_like(const uint8_t *data, size_t bytes);

/*
 * Read an export; nothing of the input has been consumed. `options` may be NULL.
 *
 * errors  PLIM_CORRUPT with the byte; PLIM_UNSUPPORTED (no memory events of a GPU, events without
 *         addresses, a timeline of sums or as a picture: the message names what to export instead);
 *         PLIM_LIMIT; PLIM_CANCELLED; PLIM_OUT_OF_HOST_MEMORY; those of plim_input_refill()
 * memory  24 bytes for each span of a thread that ran code, 64 for each memory event, each name
 *         once, and the history
 */
plim_status plim_profiler_read(plim_input *input, const plim_load_options *options,
                               plim_history **ret_history, plim_error *err);

#endif
