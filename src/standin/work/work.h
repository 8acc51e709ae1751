/*
 * work.h - work on streams: done at once, or captured into a graph.
 *
 * Nothing on a device takes time here, so what is put on a stream is over when the call returns,
 * and all streams are always idle. How late it could be over on a GPU is counted (clock.h). The
 * exception is a stream that captures: its work becomes the nodes of a graph, which are run when
 * the graph is launched.
 *
 *   launch, copy, fill, host function ── submit() ──┬── run now
 *                                                   └── node of the graph that the stream captures
 *
 * Streams, events and graphs are the same objects for the runtime and for the driver, as in CUDA;
 * all functions return error codes that both share (CUDA Runtime API manual, "Data types";
 * cudaErrorStreamCaptureUnsupported is 900, and so is CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED).
 * They may be called from any thread.
 *
 * Callers:
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
    PLIM_WORK_NOT_READY = 600,
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
/* Waits: what the stream was given is over, and what that waited for. */
int plim_standin_stream_synchronize(void *stream);
/* Of a whole device: waits, but not while any stream of it captures. */
int plim_standin_may_wait_device(int device);

/*
 * May this thread make a call that a capture cannot see and so could spoil, such as cudaMalloc?
 * CAPTURE_UNSUPPORTED, and the captures in question are invalid from then on, as the modes of
 * the thread and of the captures say: cudaThreadExchangeStreamCaptureMode in the manual.
 */
int plim_standin_may_act(void);

/* ---- streams and events ---------------------------------------------------------------------- */

/*
 * Return the codes of work.h. Handles are the vendor's: NULL, 1 and 2 are streams too.
 */

#define PLIM_STREAM_NON_BLOCKING 1u /* cudaStreamNonBlocking, CU_STREAM_NON_BLOCKING */
#define PLIM_STREAM_PRIORITY_MIN 0  /* cudaDeviceGetStreamPriorityRange of GPUs since Volta */
#define PLIM_STREAM_PRIORITY_MAX (-5)

#define PLIM_EVENT_NO_TIMING    2u /* cudaEventDisableTiming */
#define PLIM_EVENT_INTERPROCESS 4u
#define PLIM_EVENT_EXTERNAL     1u /* cudaEventRecordExternal, cudaEventWaitExternal */

typedef struct plim_standin_stream_facts {
    uint64_t id;
    int device;
    int priority;
    unsigned flags;
} plim_standin_stream_facts;

/* On the current device. A priority beyond the range is taken as the nearest in it. */
int plim_standin_stream_create(unsigned flags, int priority, void **ret);
int plim_standin_stream_destroy(void *stream);
int plim_standin_stream_get_facts(void *stream, plim_standin_stream_facts *ret);
/* Runs the function once all earlier work is done: at once, or when a graph is launched. */
int plim_standin_stream_call(void *stream, void (*function)(void *), void *data);

int plim_standin_event_create(unsigned flags, void **ret);
int plim_standin_event_destroy(void *event);
int plim_standin_event_record(void *event, void *stream, unsigned flags);
int plim_standin_event_wait(void *stream, void *event, unsigned flags);
/* May its work be waited for, or asked about? 0: and it is done. */
int plim_standin_event_query(void *event);
int plim_standin_event_synchronize(void *event);
/*
 * Could its work still be ahead on a GPU, as the host has not waited for it? Asked for a block that
 * the caching allocator frees: the first time it is counted on the stage.
 */
bool plim_standin_event_is_late(void *event);
int plim_standin_event_elapsed(float *ret_milliseconds, void *start, void *end);
/* cudaIpcEventHandle_t: 64 bytes that one process hands to another and that mean nothing there. */
typedef struct plim_standin_event_ticket {
    char bytes[64];
} plim_standin_event_ticket;

/* Only of an event made for it; the other process gets one that has happened. */
int plim_standin_event_share(void *event, plim_standin_event_ticket *ret);
int plim_standin_event_adopt(const plim_standin_event_ticket *ticket, void **ret);

/* ---- captures -------------------------------------------------------------------------------- */

typedef enum plim_standin_capture_status { /* cudaStreamCaptureStatus */
                                           PLIM_CAPTURE_NONE = 0,
                                           PLIM_CAPTURE_ACTIVE = 1,
                                           PLIM_CAPTURE_INVALIDATED = 2
} plim_standin_capture_status;

typedef struct plim_standin_capture_info {
    plim_standin_capture_status status;
    uint64_t id; /* the rest is only for an active capture */
    void *graph;
    void *const *tail; /* nodes; valid until something is done with the stream */
    size_t tail_count;
} plim_standin_capture_info;

/* `graph` NULL: a new one. Else its nodes `after` are what the first new node depends on. */
int plim_standin_capture_begin(void *stream, int mode, void *graph, void *const *after,
                               size_t after_count);
/* *ret_graph is NULL when this fails. The stream and all that joined it are free again. */
int plim_standin_capture_end(void *stream, void **ret_graph);
int plim_standin_capture_get_info(void *stream, plim_standin_capture_info *ret);
/* Adds nodes to what the stream's next node depends on, or replaces (`flags` 1) what it was. */
int plim_standin_capture_update(void *stream, void *const *nodes, size_t count, unsigned flags);
/* Swaps the calling thread's mode with *mode. */
int plim_standin_capture_exchange_mode(int *mode);

/* ---- graphs ---------------------------------------------------------------------------------- */

/*
 * Codes of work.h. Graphs, executable graphs and user objects are known by handles; a node is
 * known by its address, and belongs to its graph.
 */

/* cudaKernelNodeParams and CUDA_KERNEL_NODE_PARAMS: one layout. Arguments are not kept. */
typedef struct plim_standin_kernel_params {
    const void *function;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void **arguments;
    void **extra;
} plim_standin_kernel_params;

/* cudaHostNodeParams, CUDA_HOST_NODE_PARAMS. */
typedef struct plim_standin_host_params {
    void (*function)(void *);
    void *data;
} plim_standin_host_params;

plim_standin_work plim_standin_kernel_work(const plim_standin_kernel_params *params);
plim_standin_kernel_params plim_standin_kernel_params_of(const plim_standin_work *work);

int plim_standin_graph_create(void **ret_graph);
int plim_standin_graph_destroy(void *graph);
int plim_standin_graph_copy(void *graph, void **ret_graph);

typedef struct plim_standin_node_spec {
    plim_standin_work work;
    void *child; /* PLIM_WORK_GRAPH: a graph, which is cloned */
    void *event; /* PLIM_WORK_EVENT_… */
    void *const *after;
    size_t after_count;
} plim_standin_node_spec;

int plim_standin_graph_add_node(void *graph, const plim_standin_node_spec *spec, void **ret_node);
int plim_standin_graph_remove_node(void *node);
/* Edges from[i] → to[i]: added, or taken away. */
int plim_standin_graph_connect(void *graph, void *const *from, void *const *to, size_t count);
int plim_standin_graph_disconnect(void *graph, void *const *from, void *const *to, size_t count);

/*
 * Lists, all in the manual's manner. `ret` NULL: *count is set to how many there are. Else at most
 * *count are written, those that are missing as NULL, and *count is set to how many were.
 */
int plim_standin_graph_list_nodes(void *graph, void **ret, size_t *count);
int plim_standin_graph_list_roots(void *graph, void **ret, size_t *count);
int plim_standin_graph_list_edges(void *graph, void **ret_from, void **ret_to, size_t *count);
int plim_standin_node_list_before(void *node, void **ret, size_t *count);
int plim_standin_node_list_after(void *node, void **ret, size_t *count);

/* The work of a node; valid until it is changed or destroyed. NULL: not a node. */
const plim_standin_work *plim_standin_node_get_work(void *node);
int plim_standin_node_set_work(void *node, const plim_standin_work *work);

/* PLIM_WORK_FILE_ERROR when the file cannot be written. */
int plim_standin_graph_print(void *graph, const char *path);

int plim_standin_exec_create(void *graph, uint64_t flags, void **ret_exec);
int plim_standin_exec_destroy(void *exec);
int plim_standin_exec_launch(void *exec, void *stream);
int plim_standin_exec_get_flags(void *exec, uint64_t *ret);
/* Takes over a graph of the same shape; false in *ret_fits, and PLIM_WORK_UPDATE_FAILURE, if not.
 */
int plim_standin_exec_update(void *exec, void *graph, bool *ret_fits);
int plim_standin_exec_check(void *exec);

/* Something of the program's that lives as long as a graph needs it. */
int plim_standin_user_create(void *data, void (*destroy)(void *), unsigned uses, void **ret_user);
int plim_standin_user_retain(void *user, unsigned count);
int plim_standin_user_release(void *user, unsigned count);
/* `moves`: the caller's references become the graph's. */
int plim_standin_graph_retain_user(void *graph, void *user, unsigned count, bool moves);
int plim_standin_graph_release_user(void *graph, void *user, unsigned count);

#endif
