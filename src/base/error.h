/*
 * error.h - filling a plim_error, for the library's own use.
 *
 * Each function returns the status it was given, so that failing is one statement:
 *     return plim_fail_at(err, PLIM_CORRUPT, offset, "pickle: opcode 0x%02x is unknown", op);
 */
#ifndef PLIMSOLL_BASE_ERROR_H
#define PLIMSOLL_BASE_ERROR_H

#include "plimsoll/status.h"

/* err may be NULL in all of them. */
plim_status plim_fail(plim_error *err, plim_status status, const char *format, ...)
    PLIM_PRINTF(3, 4);
plim_status plim_fail_at(plim_error *err, plim_status status, uint64_t offset, const char *format,
                         ...) PLIM_PRINTF(4, 5);
/* Status PLIM_IO, native = errno_value; its text is appended to the message. */
plim_status plim_fail_errno(plim_error *err, int errno_value, const char *format, ...)
    PLIM_PRINTF(3, 4);
/* "out of host memory while <doing>": the one way every room says it. */
plim_status plim_fail_memory(plim_error *err, const char *doing);

/* The one control-flow macro of the tree: for places with nothing to release. */
#define PLIM_TRY(call)                              \
    do {                                            \
        const plim_status plim_try_status = (call); \
        if (plim_try_status != PLIM_OK) {           \
            return plim_try_status;                 \
        }                                           \
    } while (0)

#endif
