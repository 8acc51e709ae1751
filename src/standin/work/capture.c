/*
 * capture.c - from cudaStreamBeginCapture to cudaStreamEndCapture.
 *
 * The rules, and which error says that one was broken, are those of the CUDA Programming Guide
 * ("Stream Capture", "Prohibited and Unhandled Operations") and of the CUDA Runtime API manual. A
 * broken rule makes the whole capture invalid: it fails from then on and gives no graph, but it
 * has to be ended all the same.
 */
#include "standin/work/state.h"

#include "standin/core/current.h"
#include "standin/core/stub.h"
#include "standin/work/captures.h"
#include "standin/work/streams.h"

#include <stdlib.h>

plim_standin_capture *plim_standin_captures;

static _Thread_local plim_standin_capture_mode thread_mode = PLIM_CAPTURE_MODE_GLOBAL;

plim_standin_capture *plim_standin_capture_by_id(uint64_t id)
{
    plim_standin_capture *at = plim_standin_captures;
    while (at != NULL && at->id != id) {
        at = at->next;
    }
    return at;
}

void plim_standin_capture_invalidate(plim_standin_capture *capture)
{
    capture->is_invalid = true;
}

/* The legacy stream waits for all blocking streams of its device, capturing ones included. */
static bool has_blocking(const plim_standin_capture *capture, int device)
{
    for (const plim_standin_stream *at = capture->streams; at != NULL; at = at->next) {
        if (at->device == device && (at->flags & PLIM_STREAM_NON_BLOCKING) == 0) {
            return true;
        }
    }
    return false;
}

static bool spoils_legacy(int device, bool invalidates)
{
    bool is_spoilt = false;
    for (plim_standin_capture *at = plim_standin_captures; at != NULL; at = at->next) {
        if (has_blocking(at, device)) {
            is_spoilt = true;
            at->is_invalid = at->is_invalid || invalidates;
        }
    }
    return is_spoilt;
}

int plim_standin_capture_admit(plim_standin_stream *stream)
{
    if (stream == NULL) {
        return spoils_legacy(plim_standin_current_device(), true) ? PLIM_WORK_CAPTURE_IMPLICIT
                                                                  : PLIM_WORK_OK;
    }
    const bool is_invalid = stream->capture != NULL && stream->capture->is_invalid;
    return is_invalid ? PLIM_WORK_CAPTURE_INVALIDATED : PLIM_WORK_OK;
}

int plim_standin_capture_node(plim_standin_stream *stream, const plim_standin_work *work,
                              plim_standin_node **ret)
{
    plim_standin_nodes alone = { .items = NULL };
    plim_standin_node *const node =
        plim_standin_graph_add(stream->capture->graph, work, &stream->tail);
    if (node == NULL || !plim_standin_nodes_add(&alone, node)) {
        stream->capture->is_invalid = true; /* a graph that lacks something is worse than none */
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    plim_standin_nodes_clear(&stream->tail);
    stream->tail = alone;
    *ret = node;
    return PLIM_WORK_OK;
}

int plim_standin_capture_record(plim_standin_stream *stream, plim_standin_event *event)
{
    if (!plim_standin_nodes_assign(&event->tail, &stream->tail)) {
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    event->capture_id = stream->capture->id;
    return PLIM_WORK_OK;
}

static void join(plim_standin_capture *capture, plim_standin_stream *stream)
{
    stream->capture = capture;
    stream->next = capture->streams;
    capture->streams = stream;
}

/* The event is of `capture`, which is under way. */
static int wait_for_captured(plim_standin_stream *stream, const plim_standin_event *event,
                             plim_standin_capture *capture)
{
    if (capture->is_invalid) {
        return PLIM_WORK_CAPTURE_INVALIDATED;
    }
    if (stream == NULL) { /* would have to join, and cannot */
        capture->is_invalid = true;
        return PLIM_WORK_CAPTURE_IMPLICIT;
    }
    if (stream->capture != NULL && stream->capture != capture) {
        capture->is_invalid = true;
        stream->capture->is_invalid = true;
        return PLIM_WORK_CAPTURE_MERGE;
    }
    if (!plim_standin_nodes_add_all(&stream->tail, &event->tail)) {
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    if (stream->capture == NULL) {
        join(capture, stream);
    }
    return PLIM_WORK_OK;
}

int plim_standin_capture_wait(plim_standin_stream *stream, const plim_standin_event *event)
{
    PLIM_STANDIN_TRY(plim_standin_capture_admit(stream));
    if (event->capture_id != 0) {
        plim_standin_capture *const capture = plim_standin_capture_by_id(event->capture_id);
        return capture != NULL ? wait_for_captured(stream, event, capture)
                               : PLIM_WORK_CAPTURED_EVENT;
    }
    if (stream != NULL && stream->capture != NULL) {
        stream->capture->is_invalid = true; /* what the event stands for is outside of the graph */
        return PLIM_WORK_CAPTURE_ISOLATION;
    }
    return PLIM_WORK_OK; /* what it stands for is done */
}

/* ---- the course of a capture ----------------------------------------------------------------- */

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
        join(made, found);
        made->next = plim_standin_captures;
        plim_standin_captures = made;
    }
    plim_standin_work_unlock();
    if (error != 0) {
        free(made); /* a graph was made for it only where nothing failed after that */
    }
    return error;
}

/* Every stream's last work must come before something in the origin's tail. */
static int check_joined(const plim_standin_capture *capture)
{
    const uint64_t mark = plim_standin_graph_next_mark();
    if (!plim_standin_graph_mark(&capture->origin->tail, mark) ||
        !plim_standin_graph_mark(&capture->dropped, mark)) {
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    for (const plim_standin_stream *at = capture->streams; at != NULL; at = at->next) {
        for (size_t i = 0; i < at->tail.count; i++) {
            if (at->tail.items[i]->mark != mark) {
                return PLIM_WORK_CAPTURE_UNJOINED;
            }
        }
    }
    return PLIM_WORK_OK;
}

static void unlink_capture(const plim_standin_capture *capture)
{
    plim_standin_capture **at = &plim_standin_captures;
    while (*at != capture) {
        at = &(*at)->next;
    }
    *at = capture->next;
}

/* Lets go of all streams and frees the capture; its graph too, unless it goes to the caller. */
static void finish(plim_standin_capture *capture, bool keeps_graph, plim_standin_user **doomed)
{
    unlink_capture(capture);
    plim_standin_stream *at = capture->streams;
    while (at != NULL) {
        plim_standin_stream *const next = at->next;
        at->capture = NULL;
        at->next = NULL;
        plim_standin_nodes_clear(&at->tail);
        at = next;
    }
    capture->graph->capture = NULL;
    if (capture->owns_graph && !keeps_graph) {
        (void)plim_standin_table_take(PLIM_OBJECT_GRAPH, capture->graph->handle);
        plim_standin_graph_free(capture->graph, doomed);
    }
    plim_standin_nodes_clear(&capture->dropped);
    free(capture);
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
    const int error = capture->is_invalid ? PLIM_WORK_CAPTURE_INVALIDATED : check_joined(capture);
    if (error == 0) {
        *ret_graph = capture->graph->handle;
    }
    finish(capture, error == 0, doomed);
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

void plim_standin_capture_leave(plim_standin_stream *stream)
{
    plim_standin_capture *const capture = stream->capture;
    if (capture == NULL) {
        return;
    }
    capture->is_invalid = true;
    if (capture->origin == stream) { /* nobody could end it any more */
        plim_standin_user *doomed = NULL;
        finish(capture, false, &doomed);
        plim_standin_work_unlock();
        plim_standin_users_destroy(doomed);
        plim_standin_work_lock();
        return;
    }
    plim_standin_stream **at = &capture->streams;
    while (*at != stream) {
        at = &(*at)->next;
    }
    *at = stream->next;
    stream->capture = NULL;
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
        const bool is_spoilt = found == NULL && spoils_legacy(plim_standin_current_device(), false);
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

int plim_standin_capture_exchange_mode(int *mode)
{
    if (mode == NULL || *mode < PLIM_CAPTURE_MODE_GLOBAL || *mode > PLIM_CAPTURE_MODE_RELAXED) {
        return PLIM_WORK_INVALID_VALUE;
    }
    const plim_standin_capture_mode before = thread_mode;
    thread_mode = (plim_standin_capture_mode)*mode;
    *mode = (int)before;
    return PLIM_WORK_OK;
}

/* Does this capture forbid the calling thread what captures cannot see? */
static bool forbids(const plim_standin_capture *capture)
{
    if (capture->thread == plim_standin_thread()) {
        return capture->mode != PLIM_CAPTURE_MODE_RELAXED;
    }
    return thread_mode == PLIM_CAPTURE_MODE_GLOBAL && capture->mode == PLIM_CAPTURE_MODE_GLOBAL;
}

int plim_standin_may_act(void)
{
    if (thread_mode == PLIM_CAPTURE_MODE_RELAXED) {
        return PLIM_WORK_OK;
    }
    int error = PLIM_WORK_OK;
    plim_standin_work_lock();
    for (plim_standin_capture *at = plim_standin_captures; at != NULL; at = at->next) {
        if (forbids(at)) {
            at->is_invalid = true;
            error = PLIM_WORK_CAPTURE_UNSUPPORTED;
        }
    }
    plim_standin_work_unlock();
    return error;
}
