/*
 * host_streams.c - the host device's streams, fences and contents: all of it is done at once, in
 * the thread that asks, so that a fence is complete as soon as it is recorded.
 */
#include "device/host.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

/* --- streams --- */

static plim_status stream_create(void *self, plim_stream *ret_stream, plim_error *err)
{
    plim_host *const host = self;
    (void)pthread_mutex_lock(&host->lock);
    const plim_status status = plim_queues_create(&host->queues, ret_stream, err);
    (void)pthread_mutex_unlock(&host->lock);
    return status;
}

static plim_status stream_destroy(void *self, plim_stream stream, plim_error *err)
{
    plim_host *const host = self;
    (void)pthread_mutex_lock(&host->lock);
    const plim_status status = plim_queues_destroy(&host->queues, stream, err);
    (void)pthread_mutex_unlock(&host->lock);
    return status;
}

static plim_status stream_synchronize(void *self, plim_stream stream, plim_error *err)
{
    (void)self;
    (void)stream;
    (void)err;
    return PLIM_OK;
}

static plim_status synchronize(void *self, plim_error *err)
{
    (void)self;
    (void)err;
    return PLIM_OK;
}

/* --- fences --- */

static plim_status fence_create(void *self, plim_fence *ret_fence, plim_error *err)
{
    plim_host *const host = self;
    (void)pthread_mutex_lock(&host->lock);
    const plim_status status = plim_queues_fence_create(&host->queues, ret_fence, err);
    (void)pthread_mutex_unlock(&host->lock);
    return status;
}

static plim_status fence_destroy(void *self, plim_fence fence, plim_error *err)
{
    plim_host *const host = self;
    (void)pthread_mutex_lock(&host->lock);
    const plim_status status = plim_queues_fence_destroy(&host->queues, fence, err);
    (void)pthread_mutex_unlock(&host->lock);
    return status;
}

static plim_status fence_record(void *self, plim_fence fence, plim_stream stream, plim_error *err)
{
    plim_host *const host = self;
    (void)pthread_mutex_lock(&host->lock);
    const plim_status status = plim_queues_fence_record(&host->queues, fence, stream, err);
    (void)pthread_mutex_unlock(&host->lock);
    return status;
}

static plim_status fence_query(void *self, plim_fence fence, bool *ret_complete, plim_error *err)
{
    plim_host *const host = self;
    (void)pthread_mutex_lock(&host->lock);
    const plim_status status = plim_queues_fence_query(&host->queues, fence, ret_complete, err);
    (void)pthread_mutex_unlock(&host->lock);
    return status;
}

static plim_status fence_synchronize(void *self, plim_fence fence, plim_error *err)
{
    plim_host *const host = self;
    (void)pthread_mutex_lock(&host->lock);
    const plim_status status = plim_queues_fence_complete(&host->queues, fence, err);
    (void)pthread_mutex_unlock(&host->lock);
    return status;
}

/* --- contents --- */

static void *pointer(plim_addr addr)
{
    return (void *)(uintptr_t)addr;
}

/* Whether all of it is plain memory, or mapped and open. Under the lock. */
static plim_status check_live(const plim_host *host, plim_addr addr, uint64_t bytes,
                              plim_error *err)
{
    if (bytes == 0 || plim_books_is_open(&host->books, addr, bytes) ||
        (bytes <= INT64_MAX && addr <= INT64_MAX &&
         !plim_space_has_free(&host->not_plain, addr, bytes))) {
        return PLIM_OK;
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT,
                     "host: %" PRIu64 " bytes at 0x%" PRIx64 " cannot all be accessed", bytes,
                     addr);
}

static plim_status fill(void *self, plim_addr addr, uint8_t value, uint64_t bytes,
                        plim_stream stream, plim_error *err)
{
    (void)stream;
    plim_host *const host = self;
    (void)pthread_mutex_lock(&host->lock);
    const plim_status status = check_live(host, addr, bytes, err);
    if (status == PLIM_OK && bytes > 0) {
        memset(pointer(addr), value, bytes);
    }
    (void)pthread_mutex_unlock(&host->lock);
    return status;
}

static plim_status copy(void *self, plim_addr to, plim_addr from, uint64_t bytes,
                        plim_stream stream, plim_error *err)
{
    (void)stream;
    plim_host *const host = self;
    (void)pthread_mutex_lock(&host->lock);
    plim_status status = check_live(host, to, bytes, err);
    if (status == PLIM_OK) {
        status = check_live(host, from, bytes, err);
    }
    if (status == PLIM_OK && bytes > 0) {
        memmove(pointer(to), pointer(from), bytes);
    }
    (void)pthread_mutex_unlock(&host->lock);
    return status;
}

static plim_status read_bytes(void *self, void *to, plim_addr from, uint64_t bytes, plim_error *err)
{
    plim_host *const host = self;
    (void)pthread_mutex_lock(&host->lock);
    const plim_status status = check_live(host, from, bytes, err);
    if (status == PLIM_OK && bytes > 0) {
        memcpy(to, pointer(from), bytes);
    }
    (void)pthread_mutex_unlock(&host->lock);
    return status;
}

static plim_status write_bytes(void *self, plim_addr to, const void *from, uint64_t bytes,
                               plim_error *err)
{
    plim_host *const host = self;
    (void)pthread_mutex_lock(&host->lock);
    const plim_status status = check_live(host, to, bytes, err);
    if (status == PLIM_OK && bytes > 0) {
        memcpy(pointer(to), from, bytes);
    }
    (void)pthread_mutex_unlock(&host->lock);
    return status;
}

void plim_host_stream_ops(plim_device_ops *ops)
{
    ops->stream_create = stream_create;
    ops->stream_destroy = stream_destroy;
    ops->stream_synchronize = stream_synchronize;
    ops->synchronize = synchronize;
    ops->fence_create = fence_create;
    ops->fence_destroy = fence_destroy;
    ops->fence_record = fence_record;
    ops->fence_query = fence_query;
    ops->fence_synchronize = fence_synchronize;
    ops->fill = fill;
    ops->copy = copy;
    ops->read = read_bytes;
    ops->write = write_bytes;
}
