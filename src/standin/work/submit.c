/*
 * submit.c - work is run, or becomes a node; and who may wait or act while streams capture.
 */
#include "standin/work/state.h"

#include "standin/core/current.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void plim_standin_work_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void plim_standin_work_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}

uint64_t plim_standin_thread(void)
{
    static atomic_uint_fast64_t count;
    static _Thread_local uint64_t own;
    if (own == 0) {
        own = atomic_fetch_add(&count, 1) + 1;
    }
    return own;
}

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
    plim_standin_work_unlock();
    return error;
}
