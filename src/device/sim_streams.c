/*
 * sim_streams.c - the sim device's calls on streams and fences: queues.c, locked and told.
 */
#include "device/sim.h"

static plim_status stream_create(void *self, plim_stream *ret_stream, plim_error *err)
{
    plim_sim *const sim = self;
    (void)pthread_mutex_lock(&sim->lock);
    const plim_status status = plim_queues_create(&sim->queues, ret_stream, err);
    (void)pthread_mutex_unlock(&sim->lock);
    return status;
}

static plim_status stream_destroy(void *self, plim_stream stream, plim_error *err)
{
    plim_sim *const sim = self;
    (void)pthread_mutex_lock(&sim->lock);
    const plim_status status = plim_queues_destroy(&sim->queues, stream, err);
    (void)pthread_mutex_unlock(&sim->lock);
    return status;
}

static bool stream_is_capturing(void *self, plim_stream stream)
{
    plim_sim *const sim = self;
    (void)pthread_mutex_lock(&sim->lock);
    const plim_queue *const queue = plim_queues_find(&sim->queues, stream);
    const bool is_capturing = queue != NULL && queue->is_capturing;
    (void)pthread_mutex_unlock(&sim->lock);
    return is_capturing;
}

static plim_status stream_synchronize(void *self, plim_stream stream, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_STREAM_SYNC, .stream = stream };
    if (plim_sim_begin(sim, &record, err)) {
        plim_queues_complete(&sim->queues, stream);
    }
    return plim_sim_end(sim, &record);
}

static plim_status synchronize(void *self, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_DEVICE_SYNC };
    if (plim_sim_begin(sim, &record, err)) {
        plim_queues_complete_all(&sim->queues);
    }
    return plim_sim_end(sim, &record);
}

static plim_status fence_create(void *self, plim_fence *ret_fence, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_FENCE_CREATE };
    if (plim_sim_begin(sim, &record, err)) {
        record.status = plim_queues_fence_create(&sim->queues, &record.fence, err);
    }
    if (record.status == PLIM_OK) {
        *ret_fence = record.fence;
    }
    return plim_sim_end(sim, &record);
}

static plim_status fence_destroy(void *self, plim_fence fence, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_FENCE_DESTROY, .fence = fence };
    if (plim_sim_begin(sim, &record, err)) {
        record.status = plim_queues_fence_destroy(&sim->queues, fence, err);
    }
    return plim_sim_end(sim, &record);
}

static plim_status fence_record(void *self, plim_fence fence, plim_stream stream, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_FENCE_RECORD,
                                  .fence = fence,
                                  .stream = stream };
    if (plim_sim_begin(sim, &record, err)) {
        record.status = plim_queues_fence_record(&sim->queues, fence, stream, err);
    }
    return plim_sim_end(sim, &record);
}

static plim_status fence_query(void *self, plim_fence fence, bool *ret_complete, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_FENCE_QUERY, .fence = fence };
    if (plim_sim_begin(sim, &record, err)) {
        record.status = plim_queues_fence_query(&sim->queues, fence, &record.is_complete, err);
    }
    if (record.status == PLIM_OK) {
        *ret_complete = record.is_complete;
    }
    return plim_sim_end(sim, &record);
}

static plim_status fence_synchronize(void *self, plim_fence fence, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_FENCE_SYNC, .fence = fence };
    if (plim_sim_begin(sim, &record, err)) {
        record.status = plim_queues_fence_complete(&sim->queues, fence, err);
    }
    return plim_sim_end(sim, &record);
}

void plim_sim_stream_ops(plim_device_ops *ops)
{
    ops->stream_create = stream_create;
    ops->stream_destroy = stream_destroy;
    ops->stream_synchronize = stream_synchronize;
    ops->stream_is_capturing = stream_is_capturing;
    ops->synchronize = synchronize;
    ops->fence_create = fence_create;
    ops->fence_destroy = fence_destroy;
    ops->fence_record = fence_record;
    ops->fence_query = fence_query;
    ops->fence_synchronize = fence_synchronize;
}
