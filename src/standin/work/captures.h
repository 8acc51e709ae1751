/*
 * captures.h - streams that capture: for both libraries' functions. Codes of work.h.
 */
#ifndef PLIMSOLL_STANDIN_WORK_CAPTURES_H
#define PLIMSOLL_STANDIN_WORK_CAPTURES_H

#include <stddef.h>
#include <stdint.h>

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

#endif
