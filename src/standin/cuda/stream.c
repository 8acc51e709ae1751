/*
 * stream.c - the driver's functions of streams and of their captures, over work/.
 *
 * Handles are the runtime's: a CUstream is a cudaStream_t.
 */
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/stub.h"
#include "standin/core/windows.h"
#include "standin/cuda/cuda.h"
#include "standin/work/captures.h"
#include "standin/work/streams.h"
#include "standin/work/work.h"

#include <string.h>

int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    if (!plim_standin_footprint_context(plim_standin_current_device())) {
        return DRIVER_OUT_OF_MEMORY;
    }
    return plim_standin_stream_create(flags, priority, stream);
}

int cuStreamCreate(void **stream, unsigned flags)
{
    return cuStreamCreateWithPriority(stream, flags, PLIM_STREAM_PRIORITY_MIN);
}

int cuStreamDestroy_v2(void *stream)
{
    return plim_standin_stream_destroy(stream);
}

int cuStreamGetPriority(void *stream, int *priority)
{
    plim_standin_stream_facts facts = { 0 };
    const int error = plim_standin_stream_get_facts(stream, &facts);
    if (error == 0) {
        *priority = facts.priority;
    }
    return error;
}

int cuStreamGetFlags(void *stream, unsigned *flags)
{
    plim_standin_stream_facts facts = { 0 };
    const int error = plim_standin_stream_get_facts(stream, &facts);
    if (error == 0) {
        *flags = facts.flags;
    }
    return error;
}

int cuStreamGetId(void *stream, unsigned long long *id)
{
    plim_standin_stream_facts facts = { 0 };
    const int error = plim_standin_stream_get_facts(stream, &facts);
    if (error == 0) {
        *id = facts.id;
    }
    return error;
}

int cuStreamGetDevice(void *stream, int *device)
{
    plim_standin_stream_facts facts = { 0 };
    const int error = plim_standin_stream_get_facts(stream, &facts);
    if (error == 0) {
        *device = facts.device;
    }
    return error;
}

int cuStreamGetCtx(void *stream, void **context)
{
    int device = 0;
    const int error = cuStreamGetDevice(stream, &device);
    if (error == 0) {
        *context = (void *)(uintptr_t)(device + 1); /* see context.c */
    }
    return error;
}

int cuStreamGetCtx_v2(void *stream, void **context, void **green_context)
{
    *green_context = NULL;
    return cuStreamGetCtx(stream, context);
}

int cuStreamQuery(void *stream)
{
    return plim_standin_may_wait(stream); /* and then it is done */
}

int cuStreamSynchronize(void *stream)
{
    return plim_standin_may_wait(stream);
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    return plim_standin_event_wait(stream, event, flags);
}

int cuStreamAddCallback(void *stream, void (*callback)(void *, int, void *), void *data,
                        unsigned flags)
{
    if (callback == NULL || flags != 0) {
        return DRIVER_INVALID_VALUE;
    }
    const int error = plim_standin_may_wait(stream); /* the manual: not while it captures */
    if (error == 0) {
        callback(stream, DRIVER_SUCCESS, data);
    }
    return error;
}

/* The number that ranks wait for may lie on the host, where somebody does read it. */
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

int cuStreamWriteValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags)
{
    return put_value(stream, address, value, sizeof(value));
}

int cuStreamWriteValue32(void *stream, uint64_t address, uint32_t value, unsigned flags)
{
    return cuStreamWriteValue32_v2(stream, address, value, flags);
}

int cuStreamWriteValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags)
{
    return put_value(stream, address, value, sizeof(value));
}

/* ---- captures -------------------------------------------------------------------------------- */

int cuStreamBeginCapture_v2(void *stream, int mode)
{
    return plim_standin_capture_begin(stream, mode, NULL, NULL, 0);
}

int cuStreamBeginCaptureToGraph(void *stream, void *graph, void *const *dependencies,
                                const void *edges, size_t count, int mode)
{
    /* edges: when within a kernel its successor may start: no matter here */
    if (graph == NULL) {
        return DRIVER_INVALID_VALUE;
    }
    return plim_standin_capture_begin(stream, mode, graph, dependencies, count);
}

int cuStreamEndCapture(void *stream, void **graph)
{
    return plim_standin_capture_end(stream, graph);
}

int cuStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *id, void **graph,
                              void *const **dependencies, const void **edges, size_t *count)
{
    plim_standin_capture_info info = { 0 };
    const int error = plim_standin_capture_get_info(stream, &info);
    if (error != 0) {
        return error;
    }
    *status = (int)info.status;
    if (info.status != PLIM_CAPTURE_ACTIVE) {
        return DRIVER_SUCCESS; /* the manual: the rest is only written for an active capture */
    }
    if (id != NULL) {
        *id = info.id;
    }
    if (graph != NULL) {
        *graph = info.graph;
    }
    if (dependencies != NULL) {
        *dependencies = info.tail;
    }
    if (edges != NULL) {
        *edges = NULL; /* plain edges, all of them */
    }
    if (count != NULL) {
        *count = info.tail_count;
    }
    return DRIVER_SUCCESS;
}

int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id, void **graph,
                              void *const **dependencies, size_t *count)
{
    return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, NULL, count);
}

int cuStreamGetCaptureInfo(void *stream, int *status, uint64_t *id)
{
    return cuStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
}

int cuStreamIsCapturing(void *stream, int *status)
{
    return cuStreamGetCaptureInfo(stream, status, NULL);
}

int cuStreamUpdateCaptureDependencies(void *stream, void *const *dependencies, size_t count,
                                      unsigned flags)
{
    return plim_standin_capture_update(stream, dependencies, count, flags);
}

int cuStreamUpdateCaptureDependencies_v2(void *stream, void *const *dependencies, const void *edges,
                                         size_t count, unsigned flags)
{
    return plim_standin_capture_update(stream, dependencies, count, flags);
}

int cuThreadExchangeStreamCaptureMode(int *mode)
{
    return plim_standin_capture_exchange_mode(mode);
}

/* What is waited for has happened already, and attributes change nothing. */
PLIM_STANDIN_NOTHING(cuStreamAttachMemAsync)
PLIM_STANDIN_NOTHING(cuStreamCopyAttributes)
PLIM_STANDIN_NOTHING(cuStreamSetAttribute)
PLIM_STANDIN_NOTHING(cuStreamWaitValue32)
PLIM_STANDIN_NOTHING(cuStreamWaitValue32_v2)
PLIM_STANDIN_NOTHING(cuStreamWaitValue64)
PLIM_STANDIN_NOTHING(cuStreamWaitValue64_v2)
