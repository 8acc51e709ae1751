/*
 * stream.c - streams: made, found again and asked what they are.
 *
 * There are as many legacy streams as devices, but a legacy stream never captures and is never
 * busy, so nothing is kept of it. A thread's own streams, one per device, are made when the thread
 * first uses them and go with it.
 */
#include "standin/work/state.h"

#include "standin/core/current.h"
#include "standin/work/work.h"

#include <pthread.h>
#include <stdlib.h>

#define LEGACY_HANDLE ((uintptr_t)1) /* cudaStreamLegacy, CU_STREAM_LEGACY */
#define THREAD_HANDLE ((uintptr_t)2) /* cudaStreamPerThread, CU_STREAM_PER_THREAD */

static uint64_t stream_count; /* ids: the legacy stream has 1 */
static pthread_key_t own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

/* A thread ends: its streams, linked by `next`, which a captured one needs itself. */
typedef struct own_streams {
    plim_standin_stream stream;
    struct own_streams *next;
} own_streams;

static void forget_own(void *list)
{
    plim_standin_work_lock();
    own_streams *at = list;
    while (at != NULL) {
        own_streams *const next = at->next;
        plim_standin_capture_leave(&at->stream);
        plim_standin_nodes_clear(&at->stream.tail);
        plim_standin_clock_give(at->stream.clock);
        free(at);
        at = next;
    }
    plim_standin_work_unlock();
}

static void make_key(void)
{
    (void)pthread_key_create(&own_key, forget_own);
}

static plim_standin_stream *own_stream(int device)
{
    (void)pthread_once(&own_once, make_key);
    own_streams *const list = pthread_getspecific(own_key);
    for (own_streams *at = list; at != NULL; at = at->next) {
        if (at->stream.device == device) {
            return &at->stream;
        }
    }
    own_streams *const made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return NULL;
    }
    stream_count++;
    made->stream = (plim_standin_stream){ .id = stream_count + 1,
                                          .device = device,
                                          .clock = plim_standin_clock_take(device) };
    made->next = list;
    if (pthread_setspecific(own_key, made) != 0) {
        free(made);
        return NULL;
    }
    return &made->stream;
}

bool plim_standin_stream_find(const void *handle, plim_standin_stream **ret)
{
    if (handle == NULL || (uintptr_t)handle == LEGACY_HANDLE) {
        *ret = NULL;
        return true;
    }
    plim_standin_stream *const found = (uintptr_t)handle == THREAD_HANDLE
                                           ? own_stream(plim_standin_current_device())
                                           : plim_standin_table_get(PLIM_OBJECT_STREAM, handle);
    if (found == NULL) {
        return false;
    }
    *ret = found;
    return true;
}

plim_standin_clock *plim_standin_stream_clock(plim_standin_stream *stream)
{
    return stream != NULL ? stream->clock
                          : plim_standin_clock_of_legacy(plim_standin_current_device());
}

static int clamp_priority(int priority)
{
    if (priority > PLIM_STREAM_PRIORITY_MIN) {
        return PLIM_STREAM_PRIORITY_MIN;
    }
    return priority < PLIM_STREAM_PRIORITY_MAX ? PLIM_STREAM_PRIORITY_MAX : priority;
}

int plim_standin_stream_create(unsigned flags, int priority, void **ret)
{
    if (ret == NULL || (flags & ~PLIM_STREAM_NON_BLOCKING) != 0) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_stream *const made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    plim_standin_work_lock();
    void *const handle = plim_standin_table_add(PLIM_OBJECT_STREAM, made);
    if (handle != NULL) {
        stream_count++;
        *made =
            (plim_standin_stream){ .handle = handle,
                                   .id = stream_count + 1,
                                   .device = plim_standin_current_device(),
                                   .clock = plim_standin_clock_take(plim_standin_current_device()),
                                   .priority = clamp_priority(priority),
                                   .flags = flags };
    }
    plim_standin_work_unlock();
    if (handle == NULL) {
        free(made);
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    *ret = handle;
    return PLIM_WORK_OK;
}

int plim_standin_stream_destroy(void *stream)
{
    plim_standin_work_lock();
    plim_standin_stream *const found = plim_standin_table_take(PLIM_OBJECT_STREAM, stream);
    if (found != NULL) {
        plim_standin_capture_leave(found);
        plim_standin_clock_give(found->clock);
    }
    plim_standin_work_unlock();
    if (found == NULL) {
        return PLIM_WORK_INVALID_HANDLE; /* the legacy stream and a thread's own, too */
    }
    plim_standin_nodes_clear(&found->tail);
    free(found);
    return PLIM_WORK_OK;
}

int plim_standin_stream_get_facts(void *stream, plim_standin_stream_facts *ret)
{
    plim_standin_stream *found = NULL;

    plim_standin_work_lock();
    const bool is_there = plim_standin_stream_find(stream, &found);
    if (is_there && found == NULL) {
        *ret = (plim_standin_stream_facts){ .id = 1, .device = plim_standin_current_device() };
    } else if (is_there) {
        *ret = (plim_standin_stream_facts){ .id = found->id,
                                            .device = found->device,
                                            .priority = found->priority,
                                            .flags = found->flags };
    }
    plim_standin_work_unlock();
    return is_there ? PLIM_WORK_OK : PLIM_WORK_INVALID_HANDLE;
}
