/*
 * driver.c - see driver.h.
 */
#include "replay/driver.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/units.h"

#include <string.h>

/* --- counting --- */

static void count(plim_driver *driver, plim_device_call call, uint64_t bytes)
{
    driver->calls[call]++;
    driver->time_us +=
        driver->costs.call_us[call] + driver->costs.mib_us[call] * ((double)bytes / MIB);
}

static void on_call(void *ctx, const plim_device_record *record)
{
    plim_driver *driver = ctx;
    count(driver, record->call, record->bytes);
    driver->refusals += record->status == PLIM_OUT_OF_DEVICE_MEMORY;
}

void plim_driver_reset_counts(plim_driver *driver)
{
    memset(driver->calls, 0, sizeof driver->calls);
    driver->time_us = 0;
}

/* --- memory: the sim's --- */

static void properties(void *self, plim_device_properties *ret)
{
    const plim_driver *driver = self;
    driver->sim.ops->properties(driver->sim.self, ret);
}

static plim_status info(void *self, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes,
                        plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->info(driver->sim.self, ret_free_bytes, ret_total_bytes, err);
}

/* Asks the sim for the place the recording's driver gave for the like during this op. */
static void place_as_recorded(plim_driver *driver, bool is_range, uint64_t bytes)
{
    for (size_t i = 0; i < driver->recorded_count && driver->recorded[i].op == driver->op; i++) {
        const plim_recorded_segment *segment = &driver->recorded[i];
        if (segment->is_range == is_range && (is_range || segment->bytes == bytes)) {
            plim_sim_place_next(&driver->sim, segment->addr);
            if (is_range) {
                driver->range = segment;
                driver->range_op = driver->op;
            }
            driver->recorded += i + 1;
            driver->recorded_count -= i + 1;
            return;
        }
    }
}

static plim_status memory_alloc(void *self, uint64_t bytes, plim_addr *ret_addr, plim_error *err)
{
    plim_driver *driver = self;
    const plim_recorded_segment *recorded = driver->recorded;
    const size_t recorded_count = driver->recorded_count;
    place_as_recorded(driver, false, bytes);
    const plim_status status =
        driver->sim.ops->memory_alloc(driver->sim.self, bytes, ret_addr, err);
    if (status != PLIM_OK) { /* it will be asked for again */
        plim_sim_place_next(&driver->sim, 0);
        driver->recorded = recorded;
        driver->recorded_count = recorded_count;
    }
    return status;
}

/* cudaFree waits for the device; what the recording's waited for is in the recording. */
static plim_status memory_free(void *self, plim_addr addr, plim_error *err)
{
    const plim_driver *driver = self;
    for (uint32_t i = 0; driver->frees_wait && i < driver->queue_count; i++) {
        driver->queues[i].completed = driver->queues[i].entered;
    }
    return driver->sim.ops->memory_free(driver->sim.self, addr, err);
}

static plim_status range_reserve(void *self, uint64_t bytes, plim_addr *ret_addr, plim_error *err)
{
    plim_driver *driver = self;
    place_as_recorded(driver, true, bytes);
    return driver->sim.ops->range_reserve(driver->sim.self, bytes, ret_addr, err);
}

/* A range that is given up in the op that reserved it could not be mapped: it will be asked for
 * again. */
static plim_status range_free(void *self, plim_addr addr, uint64_t bytes, plim_error *err)
{
    plim_driver *driver = self;
    if (driver->op == driver->range_op && driver->range != NULL && driver->range->addr == addr) {
        driver->recorded_count += (size_t)(driver->recorded - driver->range);
        driver->recorded = driver->range;
        driver->range = NULL;
    }
    return driver->sim.ops->range_free(driver->sim.self, addr, bytes, err);
}

static plim_status handle_create(void *self, uint64_t bytes, plim_share share,
                                 plim_handle *ret_handle, plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->handle_create(driver->sim.self, bytes, share, ret_handle, err);
}

static plim_status handle_release(void *self, plim_handle handle, plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->handle_release(driver->sim.self, handle, err);
}

static plim_status handle_export(void *self, plim_handle handle, plim_share share, void *data,
                                 plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->handle_export(driver->sim.self, handle, share, data, err);
}

static plim_status map(void *self, plim_addr addr, uint64_t bytes, plim_handle handle,
                       plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->map(driver->sim.self, addr, bytes, handle, err);
}

static plim_status unmap(void *self, plim_addr addr, uint64_t bytes, plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->unmap(driver->sim.self, addr, bytes, err);
}

static plim_status set_access(void *self, plim_addr addr, uint64_t bytes, int32_t accessor,
                              plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->set_access(driver->sim.self, addr, bytes, accessor, err);
}

/* --- streams: nothing runs on them, and waiting for one changes nothing --- */

static plim_status stream_create(void *self, plim_stream *ret_stream, plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->stream_create(driver->sim.self, ret_stream, err);
}

static plim_status stream_destroy(void *self, plim_stream stream, plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->stream_destroy(driver->sim.self, stream, err);
}

static plim_status stream_synchronize(void *self, plim_stream stream, plim_error *err)
{
    (void)stream;
    (void)err;
    count(self, PLIM_CALL_STREAM_SYNC, 0);
    return PLIM_OK;
}

static plim_status synchronize(void *self, plim_error *err)
{
    (void)err;
    count(self, PLIM_CALL_DEVICE_SYNC, 0);
    return PLIM_OK;
}

/* --- fences: places in queues --- */

static plim_driver_fence *fence_of(plim_driver *driver, plim_fence fence)
{
    return &driver->fences.items[fence - 1];
}

static plim_status fence_create(void *self, plim_fence *ret_fence, plim_error *err)
{
    plim_driver *driver = self;
    count(driver, PLIM_CALL_FENCE_CREATE, 0);
    if (!PLIM_VEC_PUSH(driver->mem, &driver->fences, ((plim_driver_fence){ PLIM_NONE, 0 }))) {
        return plim_fail_memory(err, "making a fence");
    }
    *ret_fence = driver->fences.count;
    return PLIM_OK;
}

/* Allocators keep fences and use them again: what one destroys, another need not get. */
static plim_status fence_destroy(void *self, plim_fence fence, plim_error *err)
{
    (void)fence;
    (void)err;
    count(self, PLIM_CALL_FENCE_DESTROY, 0);
    return PLIM_OK;
}

static plim_status fence_record(void *self, plim_fence fence, plim_stream stream, plim_error *err)
{
    (void)err;
    plim_driver *driver = self;
    count(driver, PLIM_CALL_FENCE_RECORD, 0);
    const uint64_t queue = stream - PLIM_QUEUE_STREAM;
    if (queue >= driver->queue_count) {
        *fence_of(driver, fence) = (plim_driver_fence){ PLIM_NONE, 0 };
        return PLIM_OK;
    }
    driver->queues[queue].entered++;
    *fence_of(driver, fence) =
        (plim_driver_fence){ (uint32_t)queue, driver->queues[queue].entered };
    return PLIM_OK;
}

static plim_status fence_query(void *self, plim_fence fence, bool *ret_complete, plim_error *err)
{
    (void)err;
    plim_driver *driver = self;
    count(driver, PLIM_CALL_FENCE_QUERY, 0);
    const plim_driver_fence *place = fence_of(driver, fence);
    *ret_complete =
        place->queue == PLIM_NONE || place->entry <= driver->queues[place->queue].completed;
    return PLIM_OK;
}

static plim_status fence_synchronize(void *self, plim_fence fence, plim_error *err)
{
    (void)err;
    plim_driver *driver = self;
    count(driver, PLIM_CALL_FENCE_SYNC, 0);
    const plim_driver_fence place = *fence_of(driver, fence);
    if (place.queue != PLIM_NONE) {
        plim_driver_complete(driver, place.queue, place.entry);
    }
    return PLIM_OK;
}

void plim_driver_complete(plim_driver *driver, uint32_t queue, uint64_t entry)
{
    if (driver->queues[queue].completed < entry) {
        driver->queues[queue].completed = entry;
    }
}

/* --- contents: there are none --- */

static plim_status fill(void *self, plim_addr addr, uint8_t value, uint64_t bytes,
                        plim_stream stream, plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->fill(driver->sim.self, addr, value, bytes, stream, err);
}

static plim_status copy(void *self, plim_addr to, plim_addr from, uint64_t bytes,
                        plim_stream stream, plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->copy(driver->sim.self, to, from, bytes, stream, err);
}

static plim_status read_contents(void *self, void *to, plim_addr from, uint64_t bytes,
                                 plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->read(driver->sim.self, to, from, bytes, err);
}

static plim_status write_contents(void *self, plim_addr to, const void *from, uint64_t bytes,
                                  plim_error *err)
{
    const plim_driver *driver = self;
    return driver->sim.ops->write(driver->sim.self, to, from, bytes, err);
}

/* The driver is ended by plim_driver_deinit(), not by who was lent its device. */
static void destroy(void *self)
{
    (void)self;
}

static const plim_device_ops ops = {
    .properties = properties,
    .info = info,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .range_reserve = range_reserve,
    .range_free = range_free,
    .handle_create = handle_create,
    .handle_release = handle_release,
    .handle_export = handle_export,
    .map = map,
    .unmap = unmap,
    .set_access = set_access,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .synchronize = synchronize,
    .fence_create = fence_create,
    .fence_destroy = fence_destroy,
    .fence_record = fence_record,
    .fence_query = fence_query,
    .fence_synchronize = fence_synchronize,
    .fill = fill,
    .copy = copy,
    .read = read_contents,
    .write = write_contents,
    .destroy = destroy,
};

/* --- making it --- */

plim_status plim_driver_init(plim_driver *driver, plim_driver_size size, uint32_t queue_count,
                             const plim_driver_costs *costs, const plim_mem *mem, plim_error *err)
{
    *driver = (plim_driver){ .mem = mem, .queue_count = queue_count };
    driver->costs = costs != NULL ? *costs : plim_driver_costs_default();
    const plim_sim_options options = { .mem = mem,
                                       .total_bytes = size.total_bytes,
                                       .used_bytes = size.others_bytes,
                                       .on_call = on_call,
                                       .on_call_ctx = driver };
    PLIM_TRY(plim_sim_create(&options, &driver->sim, err));
    if (queue_count > 0) {
        driver->queues = plim_mem_alloc_zeroed(mem, queue_count, sizeof *driver->queues);
        if (driver->queues == NULL) {
            plim_driver_deinit(driver);
            return plim_fail_memory(err, "making the device of a replay");
        }
    }
    return PLIM_OK;
}

void plim_driver_deinit(plim_driver *driver)
{
    if (driver->mem == NULL) {
        return;
    }
    plim_device_destroy(&driver->sim);
    PLIM_VEC_FREE(driver->mem, &driver->fences);
    plim_mem_free(driver->mem, driver->queues, driver->queue_count, sizeof *driver->queues);
    *driver = (plim_driver){ 0 };
}

plim_device plim_driver_device(plim_driver *driver)
{
    return (plim_device){ .ops = &ops, .self = driver };
}
