/*
 * plimsoll/status.h - how a call reports that it failed, and why.
 *
 * Functions that can fail return a plim_status. Those that have more to say take a last
 * parameter `plim_error *err`, which may be NULL: a status, the place in the input, the system's or
 * the driver's own code (errno, CUDA) and one line for a person. Nothing is kept in globals, so
 * errors compose with threads. A parameter named ret_… is untouched when the call fails.
 */
#ifndef PLIMSOLL_STATUS_H
#define PLIMSOLL_STATUS_H

#include "plimsoll/api.h"

#include <stdint.h>

PLIM_BEGIN_DECLS

/* One list gives codes, names and texts, so that they cannot disagree. */
#define PLIM_STATUS_LIST(X)                                                      \
    X(PLIM_OK, "ok")                                                             \
    X(PLIM_OUT_OF_HOST_MEMORY, "the host has no memory left")                    \
    X(PLIM_OUT_OF_DEVICE_MEMORY, "the device has no memory left")                \
    X(PLIM_CORRUPT, "the input is malformed")                                    \
    X(PLIM_FORBIDDEN, "the input asks to run code")                              \
    X(PLIM_UNSUPPORTED, "the input is well-formed but not something this reads") \
    X(PLIM_LIMIT, "the input exceeds a stated limit")                            \
    X(PLIM_IO, "the system refused to read or write")                            \
    X(PLIM_INVALID_ARGUMENT, "the caller passed something impossible")           \
    X(PLIM_CANCELLED, "the caller asked to stop")

typedef enum plim_status {
#define PLIM_STATUS_ENUM(code, text) code,
    PLIM_STATUS_LIST(PLIM_STATUS_ENUM)
#undef PLIM_STATUS_ENUM
} plim_status;

#define PLIM_ERROR_MESSAGE_BYTES 320
#define PLIM_NO_OFFSET           UINT64_MAX

typedef struct plim_error {
    plim_status status;
    uint64_t offset; /* byte in the (decompressed) input, or PLIM_NO_OFFSET */
    int64_t native;  /* errno or a driver's code; 0 without one */
    char message[PLIM_ERROR_MESSAGE_BYTES]; /* one line: what, where, what to try */
} plim_error;

/**
 * The name of a status, "PLIM_CORRUPT", or its meaning as half a sentence.
 *
 * returns  a constant string, never NULL, for any value
 */
PLIM_API const char *plim_status_name(plim_status status);
PLIM_API const char *plim_status_text(plim_status status);

/** The version of the library, "0.1.0". */
PLIM_API const char *plim_version(void);

PLIM_END_DECLS

#endif
