/*
 * capture.c - captures under way: their nodes, forks and joins, and what spoils them.
 *
 * The rules, and which error says that one was broken, are those of the CUDA Programming Guide
 * ("Stream Capture", "Prohibited and Unhandled Operations") and of the CUDA Runtime API manual. A
 * broken rule makes the whole capture invalid: it fails from then on and gives no graph, but it
 * has to be ended all the same.
 */
#include "standin/work/state.h"

#include "standin/core/current.h"
#include "standin/core/stub.h"
#include "standin/work/work.h"

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

bool plim_standin_capture_spoils_legacy(int device, bool invalidates)
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
        return plim_standin_capture_spoils_legacy(plim_standin_current_device(), true)
                   ? PLIM_WORK_CAPTURE_IMPLICIT
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

void plim_standin_capture_join(plim_standin_capture *capture, plim_standin_stream *stream)
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
        plim_standin_capture_join(capture, stream);
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

/* ---- its end --------------------------------------------------------------------------------- */

/* Every stream's last work must come before something in the origin's tail. */
int plim_standin_capture_check(const plim_standin_capture *capture)
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
void plim_standin_capture_finish(plim_standin_capture *capture, bool keeps_graph,
                                 plim_standin_user **doomed)
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

void plim_standin_capture_leave(plim_standin_stream *stream)
{
    plim_standin_capture *const capture = stream->capture;
    if (capture == NULL) {
        return;
    }
    capture->is_invalid = true;
    if (capture->origin == stream) { /* no call could end it any more */
        plim_standin_user *doomed = NULL;
        plim_standin_capture_finish(capture, false, &doomed);
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

/* ---- calls that no capture can see ----------------------------------------------------------- */

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
