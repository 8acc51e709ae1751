/*
 * submit.c - work on streams is run, or becomes a node: what programs call of it, and of captures.
 */
#include "standin/work/state.h"

#include "standin/core/current.h"
#include "standin/work/work.h"

#include <stdlib.h>

int plim_standin_submit(void *stream, const plim_standin_work *work)
{
    plim_standin_stream *found = NULL;
    plim_standin_node *node = NULL;

    plim_standin_work_lock();
    int error = PLIM_WORK_INVALID_HANDLE;
    if (plim_standin_stream_find(stream, &found)) {
        error = plim_standin_capture_admit(found);
    }
    const bool is_captured = error == 0 && found != NULL && found->capture != NULL;
    if (is_captured) {
        error = plim_standin_capture_node(found, work, &node);
    } else if (error == 0) {
        (void)plim_standin_clock_tick(plim_standin_stream_clock(found));
    }
    plim_standin_work_unlock();

    if (error == 0 && !is_captured) {
        plim_standin_work_run(work);
    }
    return error;
}

int plim_standin_submit_kernel(void *stream)
{
    const plim_standin_work work = { .kind = PLIM_WORK_KERNEL };
    return plim_standin_submit(stream, &work);
}

int plim_standin_may_wait(void *stream)
{
    plim_standin_stream *found = NULL;

    plim_standin_work_lock();
    int error = PLIM_WORK_INVALID_HANDLE;
    if (plim_standin_stream_find(stream, &found)) {
        error = plim_standin_capture_admit(found);
        if (error == 0 && found != NULL && found->capture != NULL) {
            plim_standin_capture_invalidate(found->capture);
            error = PLIM_WORK_CAPTURE_UNSUPPORTED;
        }
    }
    plim_standin_work_unlock();
    return error;
}

int plim_standin_stream_synchronize(void *stream)
{
    const int error = plim_standin_may_wait(stream);
    plim_standin_stream *found = NULL;

    plim_standin_work_lock();
    if (error == 0 && plim_standin_stream_find(stream, &found)) {
        plim_standin_clock_finish_all(plim_standin_stream_clock(found));
    }
    plim_standin_work_unlock();
    return error;
}

static bool is_on_device(const plim_standin_capture *capture, int device)
{
    for (const plim_standin_stream *at = capture->streams; at != NULL; at = at->next) {
        if (at->device == device) {
            return true;
        }
    }
    return false;
}

int plim_standin_may_wait_device(int device)
{
    int error = 0;

    plim_standin_work_lock();
    for (plim_standin_capture *at = plim_standin_captures; at != NULL; at = at->next) {
        if (is_on_device(at, device)) {
            plim_standin_capture_invalidate(at);
            error = PLIM_WORK_CAPTURE_UNSUPPORTED;
        }
    }
    if (error == 0) {
        plim_standin_clock_finish_device(device);
    }
    plim_standin_work_unlock();
    return error;
}

int plim_standin_stream_call(void *stream, void (*function)(void *), void *data)
{
    if (function == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    const plim_standin_work work = { .kind = PLIM_WORK_HOST, .callback = function, .data = data };
    return plim_standin_submit(stream, &work);
}

/* ---- captures, begun and ended --------------------------------------------------------------- */

static bool set_tail(plim_standin_stream *stream, const plim_standin_graph *graph,
                     void *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        plim_standin_node *const node = nodes[i];
        if (node == NULL || node->graph != graph || !plim_standin_nodes_add(&stream->tail, node)) {
            return false;
        }
    }
    return true;
}

static int begin(plim_standin_stream *stream, plim_standin_capture *made, void *graph_handle)
{
    static uint64_t capture_count;

    if (stream == NULL) {
        return PLIM_WORK_CAPTURE_UNSUPPORTED; /* the legacy stream cannot be captured */
    }
    if (stream->capture != NULL) {
        return PLIM_WORK_ILLEGAL_STATE;
    }
    made->owns_graph = graph_handle == NULL;
    made->graph = made->owns_graph ? plim_standin_graph_new()
                                   : plim_standin_table_get(PLIM_OBJECT_GRAPH, graph_handle);
    if (made->graph == NULL) {
        return made->owns_graph ? PLIM_WORK_OUT_OF_MEMORY : PLIM_WORK_INVALID_VALUE;
    }
    if (made->graph->capture != NULL) {
        return PLIM_WORK_ILLEGAL_STATE;
    }
    capture_count++;
    made->id = capture_count;
    made->thread = plim_standin_thread();
    made->origin = stream;
    return PLIM_WORK_OK;
}

int plim_standin_capture_begin(void *stream, int mode, void *graph, void *const *after,
                               size_t after_count)
{
    if (mode < PLIM_CAPTURE_MODE_GLOBAL || mode > PLIM_CAPTURE_MODE_RELAXED ||
        (after_count > 0 && (after == NULL || graph == NULL))) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_capture *const made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    made->mode = (plim_standin_capture_mode)mode;

    plim_standin_stream *found = NULL;
    plim_standin_work_lock();
    int error = PLIM_WORK_INVALID_HANDLE;
    if (plim_standin_stream_find(stream, &found)) {
        error = begin(found, made, graph);
    }
    if (error == 0 && !set_tail(found, made->graph, after, after_count)) {
        plim_standin_nodes_clear(&found->tail);
        error = PLIM_WORK_INVALID_VALUE;
    }
    if (error == 0) {
        made->graph->capture = made;
        plim_standin_capture_join(made, found);
        made->next = plim_standin_captures;
        plim_standin_captures = made;
    }
    plim_standin_work_unlock();
    if (error != 0) {
        free(made); /* a graph was made for it only where nothing failed after that */
    }
    return error;
}

static int end(plim_standin_stream *stream, void **ret_graph, plim_standin_user **doomed)
{
    plim_standin_capture *const capture = stream != NULL ? stream->capture : NULL;
    if (capture == NULL) {
        return PLIM_WORK_ILLEGAL_STATE;
    }
    if (capture->mode != PLIM_CAPTURE_MODE_RELAXED && capture->thread != plim_standin_thread()) {
        return PLIM_WORK_CAPTURE_WRONG_THREAD;
    }
    if (capture->origin != stream) {
        capture->is_invalid = true;
        return PLIM_WORK_CAPTURE_UNMATCHED;
    }
    const int error =
        capture->is_invalid ? PLIM_WORK_CAPTURE_INVALIDATED : plim_standin_capture_check(capture);
    if (error == 0) {
        *ret_graph = capture->graph->handle;
    }
    plim_standin_capture_finish(capture, error == 0, doomed);
    return error;
}

int plim_standin_capture_end(void *stream, void **ret_graph)
{
    if (ret_graph == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    *ret_graph = NULL;
    plim_standin_stream *found = NULL;
    plim_standin_user *doomed = NULL;
    plim_standin_work_lock();
    int error = PLIM_WORK_INVALID_HANDLE;
    if (plim_standin_stream_find(stream, &found)) {
        error = end(found, ret_graph, &doomed);
    }
    plim_standin_work_unlock();
    plim_standin_users_destroy(doomed);
    return error;
}

/* ---- questions ------------------------------------------------------------------------------- */

static plim_standin_capture_info info_of(const plim_standin_stream *stream)
{
    const plim_standin_capture *const capture = stream != NULL ? stream->capture : NULL;
    if (capture == NULL) {
        return (plim_standin_capture_info){ .status = PLIM_CAPTURE_NONE };
    }
    if (capture->is_invalid) {
        return (plim_standin_capture_info){ .status = PLIM_CAPTURE_INVALIDATED };
    }
    return (plim_standin_capture_info){ .status = PLIM_CAPTURE_ACTIVE,
                                        .id = capture->id,
                                        .graph = capture->graph->handle,
                                        .tail = (void *const *)stream->tail.items,
                                        .tail_count = stream->tail.count };
}

int plim_standin_capture_get_info(void *stream, plim_standin_capture_info *ret)
{
    plim_standin_stream *found = NULL;
    int error = PLIM_WORK_INVALID_HANDLE;

    plim_standin_work_lock();
    if (plim_standin_stream_find(stream, &found)) {
        /* Asking does not spoil the capture, the manual says. */
        const bool is_spoilt = found == NULL && plim_standin_capture_spoils_legacy(
                                                    plim_standin_current_device(), false);
        error = is_spoilt ? PLIM_WORK_CAPTURE_IMPLICIT : PLIM_WORK_OK;
        *ret = info_of(found);
    }
    plim_standin_work_unlock();
    return error;
}

static int update(plim_standin_stream *stream, void *const *nodes, size_t count, bool replaces)
{
    plim_standin_capture *const capture = stream != NULL ? stream->capture : NULL;
    if (capture == NULL) {
        return PLIM_WORK_ILLEGAL_STATE;
    }
    if (capture->is_invalid) {
        return PLIM_WORK_CAPTURE_INVALIDATED;
    }
    if (replaces) {
        if (!plim_standin_nodes_add_all(&capture->dropped, &stream->tail)) {
            return PLIM_WORK_OUT_OF_MEMORY;
        }
        stream->tail.count = 0;
    }
    return set_tail(stream, capture->graph, nodes, count) ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
}

int plim_standin_capture_update(void *stream, void *const *nodes, size_t count, unsigned flags)
{
    if (flags > 1 || (nodes == NULL && count > 0)) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_stream *found = NULL;
    int error = PLIM_WORK_INVALID_HANDLE;

    plim_standin_work_lock();
    if (plim_standin_stream_find(stream, &found)) {
        error = update(found, nodes, count, flags == 1);
    }
    plim_standin_work_unlock();
    return error;
}
