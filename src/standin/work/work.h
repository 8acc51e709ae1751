/*
 * work.h - work on streams: done at once, or captured into a graph.
 *
 * Nothing on a device takes time here, so what is put on a stream is over when the call returns,
 * and all streams are always idle. The exception is a stream that captures: its work becomes the
 * nodes of a graph, which are run when the graph is launched.
 *
 *   launch, copy, fill, host function ── submit() ──┬── run now
 *                                                   └── node of the graph that the stream captures
 *
 * Streams, events and graphs are the same objects for the runtime and for the driver, as in CUDA;
 * all functions return error codes that both share (CUDA Runtime API manual, "Data types";
 * cudaErrorStreamCaptureUnsupported is 900, and so is CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED).
 * They may be called from any thread.
 *
 * Who calls what:
 *
 *   puts work on a stream, also in libraries         plim_standin_submit()
 *   waits for a stream, a device or asks about it    plim_standin_may_wait(), …_device()
 *   acts at once, unseen by captures: cudaMalloc,    plim_standin_may_act()
 *     cudaFree, cudaHostAlloc, cuMemMap, …
 *   uses the legacy stream and waits: cudaMemcpy     plim_standin_submit(NULL, …) does what is
 * right
 */
#ifndef PLIMSOLL_STANDIN_WORK_WORK_H
#define PLIMSOLL_STANDIN_WORK_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Error codes that the runtime and the driver share. */
enum {
    PLIM_WORK_OK = 0,
    PLIM_WORK_INVALID_VALUE = 1,
    PLIM_WORK_OUT_OF_MEMORY = 2,
    PLIM_WORK_FILE_ERROR = 304,
    PLIM_WORK_INVALID_HANDLE = 400,
    PLIM_WORK_ILLEGAL_STATE = 401,
    PLIM_WORK_NOT_SUPPORTED = 801,
    PLIM_WORK_CAPTURE_UNSUPPORTED = 900,
    PLIM_WORK_CAPTURE_INVALIDATED = 901,
    PLIM_WORK_CAPTURE_MERGE = 902,
    PLIM_WORK_CAPTURE_UNMATCHED = 903,
    PLIM_WORK_CAPTURE_UNJOINED = 904,
    PLIM_WORK_CAPTURE_ISOLATION = 905,
    PLIM_WORK_CAPTURE_IMPLICIT = 906,
    PLIM_WORK_CAPTURED_EVENT = 907,
    PLIM_WORK_CAPTURE_WRONG_THREAD = 908,
    PLIM_WORK_UPDATE_FAILURE = 910
};

/* The numbers of cudaGraphNodeType; the driver's are the same. */
typedef enum plim_standin_work_kind {
    PLIM_WORK_KERNEL = 0,
    PLIM_WORK_COPY = 1,
    PLIM_WORK_FILL = 2,
    PLIM_WORK_HOST = 3,
    PLIM_WORK_GRAPH = 4,
    PLIM_WORK_EMPTY = 5,
    PLIM_WORK_EVENT_WAIT = 6,
    PLIM_WORK_EVENT_RECORD = 7,
    PLIM_WORK_ALLOCATE = 10,
    PLIM_WORK_FREE = 11
} plim_standin_work_kind;

/* One piece of work. A plain value: a graph keeps a copy. What does not apply is zero. */
typedef struct plim_standin_work {
    plim_standin_work_kind kind;
    /* Does it, at once or at each replay, on any thread and without locks. NULL: nothing to do.
     * Kernels need none: they are counted as computations by submit() and by replays. */
    void (*run)(const struct plim_standin_work *work);
    const void *function; /* kernel: its handle or the address of its host side */
    unsigned grid[3];
    unsigned block[3];
    size_t shared_bytes;
    void (*callback)(void *); /* host function */
    void *data;
    void *target; /* copy, fill */
    const void *source;
    size_t target_pitch;
    size_t source_pitch;
    size_t row_bytes;
    size_t rows;
    uint64_t value; /* fill: what with */
    uint32_t value_bytes;
} plim_standin_work;

/*
 * Does `work` now, or adds it to the graph that `stream` captures. 0: one of these happened.
 *
 * stream   NULL and 1 are the legacy stream of the current device, 2 the thread's own
 * errors   INVALID_HANDLE: no such stream; CAPTURE_IMPLICIT: the legacy stream while a stream
 *          that it waits for captures; CAPTURE_INVALIDATED; OUT_OF_MEMORY
 */
int plim_standin_submit(void *stream, const plim_standin_work *work);

/* A kernel of which nothing more is known: what libraries launch. */
int plim_standin_submit_kernel(void *stream);

/* May the caller wait for the stream, or ask whether it is done? Not while it captures. */
int plim_standin_may_wait(void *stream);
/* The same of a whole device: not while any stream of it captures. */
int plim_standin_may_wait_device(int device);

/*
 * May this thread make a call that a capture cannot see and so could spoil, such as cudaMalloc?
 * CAPTURE_UNSUPPORTED, and the captures in question are invalid from then on, as the modes of
 * the thread and of the captures say: cudaThreadExchangeStreamCaptureMode in the manual.
 */
int plim_standin_may_act(void);

#endif
