/*
 * stream.c - streams and events, over work/work.h.
 */
#include "standin/both/both.h"
#include "standin/core/ranges.h"
#include "standin/core/shadow.h"
#include "standin/core/stage.h"
#include "standin/work/work.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/* ---- streams --------------------------------------------------------------------------------- */

/*
 * A CUstream is a cudaStream_t: one handle serves both.
 */

/* ---- made and given up ----------------------------------------------------------------------- */

static int create(void **stream, unsigned flags, int priority)
{
    return plim_standin_begins() ? plim_standin_stream_create(flags, priority, stream)
                                 : PLIM_WORK_OUT_OF_MEMORY;
}

BOTH(cuStreamCreateWithPriority, cudaStreamCreateWithPriority,
     (void **stream, unsigned flags, int priority), create(stream, flags, priority))
BOTH(cuStreamCreate, cudaStreamCreateWithFlags, (void **stream, unsigned flags),
     create(stream, flags, PLIM_STREAM_PRIORITY_MIN))
RUNTIME(cudaStreamCreate, (void **stream), create(stream, 0, PLIM_STREAM_PRIORITY_MIN))
BOTH(cuStreamDestroy_v2, cudaStreamDestroy, (void *stream), plim_standin_stream_destroy(stream))

/* ---- asked ----------------------------------------------------------------------------------- */

#define FACT(driver_name, runtime_name, type, fact)                      \
    static int get_##fact(void *stream, type *ret)                       \
    {                                                                    \
        plim_standin_stream_facts facts = { 0 };                         \
        const int error = plim_standin_stream_get_facts(stream, &facts); \
        if (error == 0) {                                                \
            *ret = facts.fact;                                           \
        }                                                                \
        return error;                                                    \
    }                                                                    \
    BOTH(driver_name, runtime_name, (void *stream, type *ret), get_##fact(stream, ret))

FACT(cuStreamGetPriority, cudaStreamGetPriority, int, priority)
FACT(cuStreamGetFlags, cudaStreamGetFlags, unsigned, flags)
FACT(cuStreamGetId, cudaStreamGetId, unsigned long long, id)
FACT(cuStreamGetDevice, cudaStreamGetDevice, int, device)

static int get_context(void *stream, void **ret_context)
{
    int device = 0;
    const int error = get_device(stream, &device);
    if (error == 0) {
        *ret_context = (void *)(uintptr_t)(device + 1); /* see cuda/context.c */
    }
    return error;
}

DRIVER(cuStreamGetCtx, (void *stream, void **context), get_context(stream, context))

int cuStreamGetCtx_v2(void *stream, void **context, void **green_context)
{
    *green_context = NULL;
    return get_context(stream, context);
}

/* ---- waited for: what may be waited for is done ---------------------------------------------- */

BOTH(cuStreamQuery, cudaStreamQuery, (void *stream), plim_standin_may_wait(stream))
BOTH(cuStreamSynchronize, cudaStreamSynchronize, (void *stream),
     plim_standin_stream_synchronize(stream))
BOTH(cuStreamWaitEvent, cudaStreamWaitEvent, (void *stream, void *event, unsigned flags),
     plim_standin_event_wait(stream, event, flags))

typedef void stream_callback(void *stream, int status, void *data);

static int add_callback(void *stream, stream_callback *callback, void *data, unsigned flags)
{
    if (callback == NULL || flags != 0) {
        return PLIM_WORK_INVALID_VALUE;
    }
    const int error = plim_standin_may_wait(stream); /* the manual: not while it captures */
    if (error == 0) {
        callback(stream, PLIM_WORK_OK, data); /* all earlier work is done */
    }
    return error;
}

BOTH(cuStreamAddCallback, cudaStreamAddCallback,
     (void *stream, stream_callback *callback, void *data, unsigned flags),
     add_callback(stream, callback, data, flags))
BOTH(cuLaunchHostFunc, cudaLaunchHostFunc, (void *stream, void (*function)(void *), void *data),
     plim_standin_stream_call(stream, function, data))
/* Managed memory is nowhere in particular here; the programming guide: not while it captures. */
RUNTIME(cudaStreamAttachMemAsync, (void *stream, void *address, size_t bytes, unsigned flags),
        plim_standin_may_wait(stream))
PLIM_STANDIN_NOTHING(cuStreamAttachMemAsync)

/* ---- numbers that ranks wait for ------------------------------------------------------------- */

/* The number may lie on the host, where the program does read it. */
static void write_value(const plim_standin_work *work)
{
    if (plim_standin_is_device_address((uint64_t)(uintptr_t)work->target)) {
        plim_standin_computed();
        return;
    }
    memcpy(work->target, &work->value, work->value_bytes);
}

static int put_value(void *stream, uint64_t address, uint64_t value, unsigned bytes)
{
    const plim_standin_work work = { .kind = PLIM_WORK_FILL,
                                     .run = write_value,
                                     .target = (void *)(uintptr_t)address,
                                     .value = value,
                                     .value_bytes = bytes,
                                     .row_bytes = bytes,
                                     .rows = 1 };
    return plim_standin_submit(stream, &work);
}

DRIVER(cuStreamWriteValue32, (void *stream, uint64_t address, uint32_t value, unsigned flags),
       put_value(stream, address, value, sizeof value))
DRIVER(cuStreamWriteValue32_v2, (void *stream, uint64_t address, uint32_t value, unsigned flags),
       put_value(stream, address, value, sizeof value))
DRIVER(cuStreamWriteValue64_v2, (void *stream, uint64_t address, uint64_t value, unsigned flags),
       put_value(stream, address, value, sizeof value))

/* All earlier work is done already. */
PLIM_STANDIN_NOTHING(cuStreamWaitValue32)
PLIM_STANDIN_NOTHING(cuStreamWaitValue32_v2)
PLIM_STANDIN_NOTHING(cuStreamWaitValue64)
PLIM_STANDIN_NOTHING(cuStreamWaitValue64_v2)

/* Attributes, access policies and L2 caches make no difference to memory. */
PLIM_STANDIN_NOTHING(cuStreamCopyAttributes)
PLIM_STANDIN_NOTHING(cuStreamSetAttribute)
PLIM_STANDIN_NOTHING(cudaCtxResetPersistingL2Cache)
PLIM_STANDIN_NOTHING(cudaStreamCopyAttributes)
PLIM_STANDIN_NOTHING(cudaStreamSetAttribute)

/* ---- events ---------------------------------------------------------------------------------- */

static int create_event(void **event, unsigned flags)
{
    return plim_standin_begins() ? plim_standin_event_create(flags, event)
                                 : PLIM_WORK_OUT_OF_MEMORY;
}

static int adopt(void **event, const plim_standin_event_ticket *ticket)
{
    return plim_standin_begins() ? plim_standin_event_adopt(ticket, event)
                                 : PLIM_WORK_OUT_OF_MEMORY;
}

BOTH(cuEventCreate, cudaEventCreateWithFlags, (void **event, unsigned flags),
     create_event(event, flags))
RUNTIME(cudaEventCreate, (void **event), create_event(event, 0))
BOTH(cuEventDestroy_v2, cudaEventDestroy, (void *event), plim_standin_event_destroy(event))
BOTH(cuEventRecordWithFlags, cudaEventRecordWithFlags, (void *event, void *stream, unsigned flags),
     plim_standin_event_record(event, stream, flags))
BOTH(cuEventRecord, cudaEventRecord, (void *event, void *stream),
     plim_standin_event_record(event, stream, 0))
DRIVER(cuEventQuery, (void *event), plim_standin_event_query(event))
BOTH(cuEventSynchronize, cudaEventSynchronize, (void *event), plim_standin_event_synchronize(event))

/* Is it PyTorch's caching allocator that calls from there? Its library holds little else. */
static bool is_caching_allocator(const void *caller)
{
    static _Atomic(const void *) last; /* it asks from few places, and often */
    Dl_info where;
    if (atomic_load(&last) == caller) {
        return true;
    }
    if (dladdr(caller, &where) == 0 || where.dli_fname == NULL ||
        strstr(where.dli_fname, "libc10_cuda") == NULL) {
        return false;
    }
    atomic_store(&last, caller);
    return true;
}

/*
 * An event that may be queried is complete. Where the rehearsal is to show the most that can be
 * reserved, the caching allocator alone hears that one is not which could be late on a GPU: a
 * program that polls would wait for ever.
 */
int cudaEventQuery(void *event)
{
    int error = plim_standin_event_query(event);
    if (error == 0 && is_caching_allocator(__builtin_return_address(0)) &&
        plim_standin_event_is_late(event) && plim_standin_settings()->ends_late) {
        error = PLIM_WORK_NOT_READY;
    }
    return plim_standin_current_error_note(error);
}
BOTH(cuEventElapsedTime, cudaEventElapsedTime, (float *milliseconds, void *start, void *end),
     plim_standin_event_elapsed(milliseconds, start, end))
BOTH(cuEventElapsedTime_v2, cudaEventElapsedTime_v2, (float *milliseconds, void *start, void *end),
     plim_standin_event_elapsed(milliseconds, start, end))
BOTH(cuIpcGetEventHandle, cudaIpcGetEventHandle, (void *ticket, void *event),
     plim_standin_event_share(event, ticket))
BOTH(cuIpcOpenEventHandle, cudaIpcOpenEventHandle, (void **event, plim_standin_event_ticket ticket),
     adopt(event, &ticket))
