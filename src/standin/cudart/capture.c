/*
 * capture.c - the runtime's functions of stream capture, over work/captures.h.
 *
 * CUDA 13 gave some names of CUDA 12 new parameters (Runtime API manual 13.0, "API
 * synchronization" and the release notes' list of removed symbols): which of the two is meant is
 * known from the version that the program was built for.
 */
#include "standin/core/current.h"
#include "standin/core/stage.h"
#include "standin/work/captures.h"
#include "standin/work/work.h"

#define CUDA_13 13000u

static int note(int error)
{
    return plim_standin_current_error_note(error);
}

int cudaStreamBeginCapture(void *stream, int mode)
{
    return note(plim_standin_capture_begin(stream, mode, NULL, NULL, 0));
}

int cudaStreamBeginCaptureToGraph(void *stream, void *graph, void *const *dependencies,
                                  const void *edges, size_t count, int mode)
{
    /* edges: when within a kernel its successor may start: no matter here */
    if (graph == NULL) {
        return note(PLIM_WORK_INVALID_VALUE);
    }
    return note(plim_standin_capture_begin(stream, mode, graph, dependencies, count));
}

int cudaStreamEndCapture(void *stream, void **graph)
{
    return note(plim_standin_capture_end(stream, graph));
}

int cudaStreamIsCapturing(void *stream, int *status)
{
    plim_standin_capture_info info = { 0 };
    const int error = plim_standin_capture_get_info(stream, &info);
    if (error == 0) {
        *status = (int)info.status;
    }
    return note(error);
}

int cudaStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id, void **graph,
                                void *const **dependencies, const void **edges, size_t *count)
{
    plim_standin_capture_info info = { 0 };
    const int error = plim_standin_capture_get_info(stream, &info);
    if (error != 0) {
        return note(error);
    }
    *status = (int)info.status;
    if (info.status != PLIM_CAPTURE_ACTIVE) {
        return PLIM_WORK_OK; /* the manual: the rest is only written for an active capture */
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
    return PLIM_WORK_OK;
}

int cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph,
                                void *const **dependencies, size_t *count)
{
    return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, NULL, count);
}

int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph,
                             void *const **dependencies, const void **edges, size_t *count)
{
    if (plim_standin_settings()->cuda_version < CUDA_13) { /* three parameters; the rest is noise */
        return cudaStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
    }
    return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count);
}

int cudaStreamUpdateCaptureDependencies_v2(void *stream, void *const *dependencies,
                                           const void *edges, size_t count, unsigned flags)
{
    return note(plim_standin_capture_update(stream, dependencies, count, flags));
}

int cudaStreamUpdateCaptureDependencies(void *stream, void *const *dependencies, uintptr_t third,
                                        uintptr_t fourth, unsigned fifth)
{
    if (plim_standin_settings()->cuda_version < CUDA_13) { /* without edges: count, flags */
        return note(plim_standin_capture_update(stream, dependencies, third, (unsigned)fourth));
    }
    return note(plim_standin_capture_update(stream, dependencies, fourth, fifth));
}

int cudaThreadExchangeStreamCaptureMode(int *mode)
{
    return note(plim_standin_capture_exchange_mode(mode));
}
