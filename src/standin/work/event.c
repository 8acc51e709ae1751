/*
 * event.c - events: when something was over, and by the host's clock.
 *
 * No work takes time on the device, so an event happens as it is recorded. Stamps only grow, by
 * at least a nanosecond, so that no two events are at the same time: callers divide by elapsed
 * times.
 */
#include "standin/work/state.h"

#include "base/units.h"
#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/memory.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/work/work.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICKET      "plimsoll event"
#define EVENT_FLAGS 7u /* blocking synchronisation, no timing, between processes */

/* The lock is held, or stamps could run backwards. */
static uint64_t stamp(void)
{
    static uint64_t last;
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
    last = ns > last ? ns : last + 1;
    return last;
}

static plim_standin_event *event_of(const void *handle)
{
    return plim_standin_table_get(PLIM_OBJECT_EVENT, handle);
}

static void happen(plim_standin_event *event)
{
    event->ns = stamp();
    event->capture_id = 0;
    plim_standin_nodes_clear(&event->tail);
}

void plim_standin_event_happen(void *handle)
{
    plim_standin_work_lock();
    plim_standin_event *const event = event_of(handle);
    if (event != NULL) {
        happen(event);
    }
    plim_standin_work_unlock();
}

int plim_standin_event_create(unsigned flags, void **ret)
{
    const bool is_shared = (flags & PLIM_EVENT_INTERPROCESS) != 0;
    if (ret == NULL || (flags & ~EVENT_FLAGS) != 0 ||
        (is_shared && (flags & PLIM_EVENT_NO_TIMING) == 0)) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_event *const made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    plim_standin_work_lock();
    void *const handle = plim_standin_table_add(PLIM_OBJECT_EVENT, made);
    *made = (plim_standin_event){ .handle = handle,
                                  .device = plim_standin_current_device(),
                                  .flags = flags };
    plim_standin_work_unlock();
    if (handle == NULL) {
        free(made);
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    *ret = handle;
    return PLIM_WORK_OK;
}

int plim_standin_event_destroy(void *event)
{
    plim_standin_work_lock();
    plim_standin_event *const found = plim_standin_table_take(PLIM_OBJECT_EVENT, event);
    plim_standin_work_unlock();
    if (found == NULL) {
        return PLIM_WORK_INVALID_HANDLE;
    }
    plim_standin_nodes_clear(&found->tail);
    free(found);
    return PLIM_WORK_OK;
}

int plim_standin_event_share(void *event, plim_standin_event_ticket *ret)
{
    plim_standin_work_lock();
    const plim_standin_event *const found = event_of(event);
    int error = PLIM_WORK_INVALID_HANDLE;
    if (found != NULL) {
        const bool is_shared = (found->flags & PLIM_EVENT_INTERPROCESS) != 0;
        error = is_shared && ret != NULL ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_work_unlock();
    if (error == 0) {
        *ret = (plim_standin_event_ticket){ .bytes = TICKET };
    }
    return error;
}

int plim_standin_event_adopt(const plim_standin_event_ticket *ticket, void **ret)
{
    /* Whatever the other process recorded is done, so there is nothing to know of it. */
    if (memcmp(ticket->bytes, TICKET, sizeof(TICKET)) != 0) {
        return PLIM_WORK_INVALID_VALUE;
    }
    return plim_standin_event_create(PLIM_EVENT_INTERPROCESS | PLIM_EVENT_NO_TIMING, ret);
}

/* A node of the capture that records the event, or waits for it, whenever the graph runs. */
static int add_external(plim_standin_stream *stream, plim_standin_event *event,
                        plim_standin_work_kind kind)
{
    if (stream == NULL || stream->capture == NULL) {
        return PLIM_WORK_INVALID_VALUE; /* the manual: invalid outside of a capture */
    }
    const plim_standin_work work = { .kind = kind };
    plim_standin_node *node = NULL;
    const int error = plim_standin_capture_node(stream, &work, &node);
    if (error == 0) {
        node->event = event->handle;
    }
    return error;
}

static int record(plim_standin_stream *stream, plim_standin_event *event, unsigned flags)
{
    const int device = stream != NULL ? stream->device : plim_standin_current_device();
    if (device != event->device) {
        return PLIM_WORK_INVALID_HANDLE; /* the manual: must be of the same context */
    }
    PLIM_STANDIN_TRY(plim_standin_capture_admit(stream));
    if ((flags & PLIM_EVENT_EXTERNAL) != 0) {
        return add_external(stream, event, PLIM_WORK_EVENT_RECORD);
    }
    if (stream != NULL && stream->capture != NULL) {
        return plim_standin_capture_record(stream, event);
    }
    happen(event);
    event->clock = plim_standin_stream_clock(stream);
    event->number = plim_standin_clock_tick(event->clock);
    event->is_counted = false;
    return PLIM_WORK_OK;
}

static int wait(plim_standin_stream *stream, plim_standin_event *event, unsigned flags)
{
    if ((flags & PLIM_EVENT_EXTERNAL) != 0) {
        const int error = plim_standin_capture_admit(stream);
        return error != 0 ? error : add_external(stream, event, PLIM_WORK_EVENT_WAIT);
    }
    if (event->capture_id == 0) {
        plim_standin_clock *const clock = plim_standin_stream_clock(stream);
        plim_standin_clock_follow(clock, event->clock, event->number);
        (void)plim_standin_clock_tick(clock);
    }
    return plim_standin_capture_wait(stream, event);
}

typedef int event_act(plim_standin_stream *stream, plim_standin_event *event, unsigned flags);

static int act(void *event, void *stream, unsigned flags, event_act *does)
{
    if ((flags & ~PLIM_EVENT_EXTERNAL) != 0) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_stream *on = NULL;
    plim_standin_work_lock();
    plim_standin_event *const found = event_of(event);
    int error = PLIM_WORK_INVALID_HANDLE;
    if (found != NULL && plim_standin_stream_find(stream, &on)) {
        error = does(on, found, flags);
    }
    plim_standin_work_unlock();
    return error;
}

int plim_standin_event_record(void *event, void *stream, unsigned flags)
{
    return act(event, stream, flags, record);
}

int plim_standin_event_wait(void *stream, void *event, unsigned flags)
{
    return act(event, stream, flags, wait);
}

/* An event of a capture never happens: a query spoils the capture. */
static int refuse_captured(const plim_standin_event *event)
{
    if (event->capture_id == 0) {
        return PLIM_WORK_OK;
    }
    plim_standin_capture *const capture = plim_standin_capture_by_id(event->capture_id);
    if (capture != NULL) {
        plim_standin_capture_invalidate(capture);
    }
    return PLIM_WORK_CAPTURED_EVENT;
}

int plim_standin_event_query(void *event)
{
    plim_standin_work_lock();
    const plim_standin_event *const found = event_of(event);
    const int error = found != NULL ? refuse_captured(found) : PLIM_WORK_INVALID_HANDLE;
    plim_standin_work_unlock();
    return error != 0 ? error : plim_standin_may_act();
}

int plim_standin_event_synchronize(void *event)
{
    const int error = plim_standin_event_query(event);

    plim_standin_work_lock();
    const plim_standin_event *const found = event_of(event);
    if (error == 0 && found != NULL) {
        plim_standin_clock_finish(found->clock, found->number);
    }
    plim_standin_work_unlock();
    return error;
}

bool plim_standin_event_is_late(void *event)
{
    plim_standin_work_lock();
    plim_standin_event *const found = event_of(event);
    const bool is_late = found != NULL && !plim_standin_clock_is_over(found->clock, found->number);
    const bool is_new = is_late && !found->is_counted;
    const int device = found != NULL ? found->device : 0;
    uint64_t at_once = 0;
    if (is_new) {
        found->is_counted = true;
        at_once = plim_standin_clock_hold(found->clock, found->number);
    }
    plim_standin_work_unlock();
    if (is_new) {
        plim_stage_note_wait(plim_standin_stage(), plim_standin_device_on_stage(device), at_once,
                             plim_standin_memory_largest(device));
    }
    return is_late;
}

static int elapse(const plim_standin_event *start, const plim_standin_event *end, float *ret)
{
    if (((start->flags | end->flags) & PLIM_EVENT_NO_TIMING) != 0) {
        return PLIM_WORK_INVALID_HANDLE;
    }
    int error = refuse_captured(start);
    error = error != 0 ? error : refuse_captured(end);
    if (error != 0) {
        return error;
    }
    if (start->ns == 0 || end->ns == 0) {
        return PLIM_WORK_INVALID_HANDLE; /* never recorded */
    }
    const double ns =
        end->ns >= start->ns ? (double)(end->ns - start->ns) : -(double)(start->ns - end->ns);
    *ret = (float)(ns / (double)NS_PER_MS);
    return PLIM_WORK_OK;
}

int plim_standin_event_elapsed(float *ret_milliseconds, void *start, void *end)
{
    if (ret_milliseconds == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_work_lock();
    const plim_standin_event *const first = event_of(start);
    const plim_standin_event *const second = event_of(end);
    int error = PLIM_WORK_INVALID_HANDLE;
    if (first != NULL && second != NULL) {
        error = elapse(first, second, ret_milliseconds);
    }
    plim_standin_work_unlock();
    return error;
}
