/*
 * capture.c - captures of streams, over work/captures.h.
 *
 * CUDA 13 gave some of the runtime's names of CUDA 12 new parameters (Runtime API manual 13.0, "API
 * synchronization" and the release notes' list of removed symbols): which of the two is meant is
 * known from the version that the program was built for. Edges' data, when within a kernel its
 * successor may start, make no difference.
 */
#include "standin/work/work.h"

#include "standin/both/both.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"

BOTH(cuStreamBeginCapture_v2, cudaStreamBeginCapture, (void *stream, int mode),
     plim_standin_capture_begin(stream, mode, NULL, NULL, 0))
BOTH(cuStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph,
     (void *stream, void *graph, void *const *dependencies, const void *edges, size_t count,
      int mode),
     graph != NULL ? plim_standin_capture_begin(stream, mode, graph, dependencies, count)
                   : PLIM_WORK_INVALID_VALUE)
BOTH(cuStreamEndCapture, cudaStreamEndCapture, (void *stream, void **graph),
     plim_standin_capture_end(stream, graph))
BOTH(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, (int *mode),
     plim_standin_capture_exchange_mode(mode))

/* ---- what is known of one -------------------------------------------------------------------- */

static int get_info(void *stream, int *status, uint64_t *id, void **graph,
                    void *const **dependencies, size_t *count)
{
    plim_standin_capture_info info = { 0 };
    PLIM_STANDIN_TRY(plim_standin_capture_get_info(stream, &info));
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
    if (count != NULL) {
        *count = info.tail_count;
    }
    return PLIM_WORK_OK;
}

/* All edges of an active capture are plain ones. */
static int get_info_and_edges(void *stream, int *status, uint64_t *id, void **graph,
                              void *const **dependencies, const void **edges, size_t *count)
{
    const int error = get_info(stream, status, id, graph, dependencies, count);
    if (error == 0 && *status == PLIM_CAPTURE_ACTIVE && edges != NULL) {
        *edges = NULL;
    }
    return error;
}

BOTH(cuStreamIsCapturing, cudaStreamIsCapturing, (void *stream, int *status),
     get_info(stream, status, NULL, NULL, NULL, NULL))
BOTH(cuStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2,
     (void *stream, int *status, uint64_t *id, void **graph, void *const **dependencies,
      size_t *count),
     get_info(stream, status, id, graph, dependencies, count))
BOTH(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v3,
     (void *stream, int *status, uint64_t *id, void **graph, void *const **dependencies,
      const void **edges, size_t *count),
     get_info_and_edges(stream, status, id, graph, dependencies, edges, count))
DRIVER(cuStreamGetCaptureInfo, (void *stream, int *status, uint64_t *id),
       get_info(stream, status, id, NULL, NULL, NULL))

int cudaStreamGetCaptureInfo(void *stream, int *status, uint64_t *id, void **graph,
                             void *const **dependencies, const void **edges, size_t *count)
{
    if (plim_standin_settings()->cuda_version <
        PLIM_CUDA_13) { /* three parameters; the rest is noise */
        return cudaStreamGetCaptureInfo_v2(stream, status, id, NULL, NULL, NULL);
    }
    return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count);
}

/* ---- what its next node depends on ----------------------------------------------------------- */

DRIVER(cuStreamUpdateCaptureDependencies,
       (void *stream, void *const *dependencies, size_t count, unsigned flags),
       plim_standin_capture_update(stream, dependencies, count, flags))
BOTH(cuStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies_v2,
     (void *stream, void *const *dependencies, const void *edges, size_t count, unsigned flags),
     plim_standin_capture_update(stream, dependencies, count, flags))

int cudaStreamUpdateCaptureDependencies(void *stream, void *const *dependencies, uintptr_t third,
                                        uintptr_t fourth, unsigned fifth)
{
    const bool is_13 =
        plim_standin_settings()->cuda_version >= PLIM_CUDA_13; /* edges, count, flags */
    return cudaStreamUpdateCaptureDependencies_v2(
        stream, dependencies, NULL, is_13 ? fourth : third, is_13 ? fifth : (unsigned)fourth);
}
