/*
 * driver.c - see driver.h.
 */
#include "replay/run/driver.h"

/* The place that the recording's driver gave for the like during this op; 0: none. */
static plim_addr place(void *ctx, plim_device_call call, uint64_t bytes)
{
    plim_driver *driver = ctx;
    plim_recorded_places *places = &driver->places;
    const bool is_range = call == PLIM_CALL_RANGE_RESERVE;
    driver->before = *places;
    for (size_t i = 0; i < places->count && places->next[i].op == driver->op; i++) {
        const plim_recorded_segment *segment = &places->next[i];
        if (segment->is_range == is_range && (is_range || segment->bytes == bytes)) {
            if (is_range) {
                driver->range = segment;
                driver->range_op = driver->op;
            }
            places->next += i + 1;
            places->count -= i + 1;
            return segment->addr;
        }
    }
    return 0;
}

/* What was given in vain will be requested again: memory that was refused, and a range that is
 * given up in the op that reserved it, because it could not be mapped. */
static void on_call(void *ctx, const plim_device_record *record)
{
    plim_driver *driver = ctx;
    if (record->call == PLIM_CALL_MEMORY_ALLOC && record->status != PLIM_OK) {
        driver->places = driver->before;
    } else if (record->call == PLIM_CALL_RANGE_FREE && driver->op == driver->range_op &&
               driver->range != NULL && driver->range->addr == record->addr) {
        driver->places.count += (size_t)(driver->places.next - driver->range);
        driver->places.next = driver->range;
        driver->range = NULL;
    }
}

plim_status plim_driver_init(plim_driver *driver, plim_driver_size size, uint32_t queue_count,
                             const plim_driver_costs *costs, const plim_mem *mem, plim_error *err)
{
    *driver = (plim_driver){ .op = 0 };
    const plim_sim_options options = {
        .mem = mem,
        .total_bytes = size.total_bytes,
        .used_bytes = size.others_bytes,
        .has_manual_fences = queue_count > 0,
        .manual_first = PLIM_QUEUE_STREAM,
        .manual_count = queue_count,
        .is_unshared = true,
        .costs = costs != NULL ? *costs : plim_driver_costs_default(),
        .place = place,
        .place_ctx = driver,
        .on_call = on_call,
        .on_call_ctx = driver,
    };
    return plim_sim_create(&options, &driver->sim, err);
}

/* --- what calls cost --- */

plim_driver_costs plim_driver_costs_default(void)
{
    return (plim_driver_costs){
        .call_us = {
            [PLIM_CALL_MEMORY_ALLOC] = 50,
            [PLIM_CALL_MEMORY_FREE] = 57,
            [PLIM_CALL_RANGE_RESERVE] = 14,
            [PLIM_CALL_RANGE_FREE] = 1,
            [PLIM_CALL_HANDLE_CREATE] = 28,
            [PLIM_CALL_HANDLE_RELEASE] = 23,
            [PLIM_CALL_HANDLE_EXPORT] = 10,
            [PLIM_CALL_MAP] = 2,
            [PLIM_CALL_UNMAP] = 34,
            [PLIM_CALL_SET_ACCESS] = 37,
            [PLIM_CALL_STREAM_SYNC] = 10,
            [PLIM_CALL_DEVICE_SYNC] = 10,
            [PLIM_CALL_FENCE_CREATE] = 1,
            [PLIM_CALL_FENCE_DESTROY] = 1,
            [PLIM_CALL_FENCE_RECORD] = 1,
            [PLIM_CALL_FENCE_QUERY] = 1,
            [PLIM_CALL_FENCE_SYNC] = 5,
            [PLIM_CALL_INFO] = 9,
        },
        .mib_us = {
            [PLIM_CALL_MEMORY_ALLOC] = 0.8,
            [PLIM_CALL_HANDLE_CREATE] = 0.65,
            [PLIM_CALL_SET_ACCESS] = 0.55,
        },
    };
}
