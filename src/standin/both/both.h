/*
 * both.h - functions that the driver and the runtime both have.
 *
 * Streams, events, captures and graphs are the same objects to both libraries, and so are their
 * error codes (work/work.h). What differs is the name, and that the runtime remembers an error for
 * cudaGetLastError(). So they stand in tables, a row for each pair:
 *
 *   BOTH(driver's name, runtime's name, (parameters), what it does)
 *
 * A name that only one of them has is DRIVER(name, …) or RUNTIME(name, …), or a plain function.
 */
#ifndef PLIMSOLL_STANDIN_BOTH_BOTH_H
#define PLIMSOLL_STANDIN_BOTH_BOTH_H

#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/stub.h"
#include "standin/work/work.h"

#include <stddef.h>
#include <stdint.h>

#define PLIM_CUDA_13 13000u /* where some functions got parameters */

#define DRIVER(name, parameters, call) \
    int name parameters                \
    {                                  \
        return call;                   \
    }
#define RUNTIME(name, parameters, call) \
    DRIVER(name, parameters, plim_standin_current_error_note(call))
#define BOTH(driver_name, runtime_name, parameters, call) \
    DRIVER(driver_name, parameters, call)                 \
    RUNTIME(runtime_name, parameters, call)

/* True if the device has room for its context, which the first use creates. */
static inline bool plim_standin_begins(void)
{
    return plim_standin_footprint_context(plim_standin_current_device());
}

#endif
