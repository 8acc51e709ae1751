/*
 * read.h - the log of RMM, RAPIDS' memory manager, as a history (docs/formats/rmm-csv.md).
 */
#ifndef PLIMSOLL_RMM_READ_H
#define PLIMSOLL_RMM_READ_H

#include "base/input.h"

#include "plimsoll/history.h"

#include <stdbool.h>

/* Bytes that plim_rmm_looks_like() wants to see. */
#define PLIM_RMM_HEADER_BYTES_MAX ((size_t)4096)

/* True if a file begins with the header of such a log, within PLIM_RMM_HEADER_BYTES_MAX. */
bool plim_rmm_looks_like(const uint8_t *data, size_t bytes);

/*
 * Read a log; nothing of the input has been consumed. `options` may be NULL.
 *
 * errors  PLIM_CORRUPT with the line and its byte (a row that lacks a field, a number that is
 *         none); PLIM_UNSUPPORTED (no such header); PLIM_LIMIT (a line of a MiB); PLIM_CANCELLED;
 *         PLIM_OUT_OF_HOST_MEMORY; those of plim_input_refill()
 * memory  37 bytes for each event of the history
 */
plim_status plim_rmm_read(plim_input *input, const plim_load_options *options,
                          plim_history **ret_history, plim_error *err);

#endif
