/*
 * core.c - calls of sim and host: what all of them go through, and those on streams and fences,
 * which are queues.c, locked and counted. See core.h.
 */
#include "device/core.h"

#include "base/error.h"
#include "base/units.h"

#include <stdio.h>

/* --- every call --- */

bool plim_core_begin(plim_device_core *core, plim_device_record *record, plim_error *err)
{
    plim_core_lock(core);
    plim_core_failure *const failure = &core->failures[record->call];
    if (failure->in == 0 || --failure->in > 0) {
        return true;
    }
    record->status = plim_fail(err, failure->status, "%s: %s was made to fail", core->name,
                               plim_device_call_name(record->call));
    return false;
}

plim_status plim_core_end(plim_device_core *core, plim_device_record *record)
{
    const plim_status status = record->status;
    core->counts.calls[record->call]++;
    core->counts.clock_us +=
        core->costs.call_us[record->call] +
        core->costs.mib_us[record->call] * ((double)record->bytes / (double)MIB);
    core->counts.refusals += status == PLIM_OUT_OF_DEVICE_MEMORY;
    if (core->on_call != NULL) {
        record->ordinal = core->ordinal;
        core->on_call(core->on_call_ctx, record);
    }
    plim_core_unlock(core);
    return status;
}

static plim_status info(void *self, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes,
                        plim_error *err)
{
    plim_device_core *const core = self;
    plim_device_record record = { .call = PLIM_CALL_INFO };
    if (plim_core_begin(core, &record, err)) {
        *ret_free_bytes = plim_books_free_bytes(&core->books);
        *ret_total_bytes = core->books.total_bytes;
    }
    return plim_core_end(core, &record);
}

/* --- streams and fences --- */

static plim_status stream_create(void *self, plim_stream *ret_stream, plim_error *err)
{
    plim_device_core *const core = self;
    PLIM_CORE_HOLD(core);
    return plim_queues_create(&core->queues, ret_stream, err);
}

static plim_status stream_destroy(void *self, plim_stream stream, plim_error *err)
{
    plim_device_core *const core = self;
    PLIM_CORE_HOLD(core);
    return plim_queues_destroy(&core->queues, stream, err);
}

static bool stream_is_capturing(void *self, plim_stream stream)
{
    plim_device_core *const core = self;
    PLIM_CORE_HOLD(core);
    const plim_queue *const queue = plim_queues_find(&core->queues, stream);
    return queue != NULL && queue->is_capturing;
}

static plim_status stream_synchronize(void *self, plim_stream stream, plim_error *err)
{
    plim_device_core *const core = self;
    plim_device_record record = { .call = PLIM_CALL_STREAM_SYNC, .stream = stream };
    if (plim_core_begin(core, &record, err) && !core->is_lenient) {
        plim_queues_complete(&core->queues, stream);
    }
    return plim_core_end(core, &record);
}

static plim_status synchronize(void *self, plim_error *err)
{
    plim_device_core *const core = self;
    plim_device_record record = { .call = PLIM_CALL_DEVICE_SYNC };
    if (plim_core_begin(core, &record, err) && !core->is_lenient) {
        plim_queues_complete_all(&core->queues);
    }
    return plim_core_end(core, &record);
}

static plim_status fence_create(void *self, plim_fence *ret_fence, plim_error *err)
{
    plim_device_core *const core = self;
    plim_device_record record = { .call = PLIM_CALL_FENCE_CREATE };
    if (plim_core_begin(core, &record, err)) {
        record.status = plim_queues_fence_create(&core->queues, &record.fence, err);
    }
    if (record.status == PLIM_OK) {
        *ret_fence = record.fence;
    }
    return plim_core_end(core, &record);
}

static plim_status fence_destroy(void *self, plim_fence fence, plim_error *err)
{
    plim_device_core *const core = self;
    plim_device_record record = { .call = PLIM_CALL_FENCE_DESTROY, .fence = fence };
    if (plim_core_begin(core, &record, err)) {
        record.status = plim_queues_fence_destroy(&core->queues, fence, err);
    }
    return plim_core_end(core, &record);
}

static plim_status fence_record(void *self, plim_fence fence, plim_stream stream, plim_error *err)
{
    plim_device_core *const core = self;
    plim_device_record record = { .call = PLIM_CALL_FENCE_RECORD,
                                  .fence = fence,
                                  .stream = stream };
    if (plim_core_begin(core, &record, err)) {
        record.status = plim_queues_fence_record(&core->queues, fence, stream, err);
    }
    return plim_core_end(core, &record);
}

static plim_status fence_query(void *self, plim_fence fence, bool *ret_complete, plim_error *err)
{
    plim_device_core *const core = self;
    plim_device_record record = { .call = PLIM_CALL_FENCE_QUERY, .fence = fence };
    if (plim_core_begin(core, &record, err)) {
        record.status = plim_queues_fence_query(&core->queues, fence, &record.is_complete, err);
    }
    if (record.status == PLIM_OK) {
        *ret_complete = record.is_complete;
    }
    return plim_core_end(core, &record);
}

static plim_status fence_synchronize(void *self, plim_fence fence, plim_error *err)
{
    plim_device_core *const core = self;
    plim_device_record record = { .call = PLIM_CALL_FENCE_SYNC, .fence = fence };
    if (plim_core_begin(core, &record, err)) {
        record.status = plim_queues_fence_complete(&core->queues, fence, err);
    }
    return plim_core_end(core, &record);
}

/* --- making it --- */

void plim_core_init(plim_device_core *core, const plim_mem *mem, const char *name,
                    uint64_t total_bytes, uint64_t granularity_bytes)
{
    *core = (plim_device_core){
        .mem = mem,
        .ops = { .info = info,
                 .stream_create = stream_create,
                 .stream_destroy = stream_destroy,
                 .stream_synchronize = stream_synchronize,
                 .stream_is_capturing = stream_is_capturing,
                 .synchronize = synchronize,
                 .fence_create = fence_create,
                 .fence_destroy = fence_destroy,
                 .fence_record = fence_record,
                 .fence_query = fence_query,
                 .fence_synchronize = fence_synchronize },
    };
    (void)snprintf(core->name, sizeof core->name, "%s", name);
    (void)pthread_mutex_init(&core->lock, NULL);
    plim_books_init(&core->books, mem, core->name);
    core->books.total_bytes = total_bytes;
    core->books.granularity_bytes =
        granularity_bytes != 0 ? granularity_bytes : PLIM_DEVICE_GRANULARITY_BYTES;
    plim_queues_init(&core->queues, mem, core->name);
    plim_map_init(&core->plain_bytes, mem);
}

void plim_core_deinit(plim_device_core *core)
{
    plim_books_deinit(&core->books);
    plim_queues_deinit(&core->queues);
    plim_map_deinit(&core->plain_bytes);
    (void)pthread_mutex_destroy(&core->lock);
}
