/*
 * sim.c - the device of addresses and counters: its making, its properties, its controls.
 */
#include "device/sim.h"

#include "base/assert.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>

#define ORDINALS_MAX    32
#define TOTAL_BYTES_MAX (UINT64_C(64) << 40) /* what a window of sim_windows.c has room for */

static void properties(void *self, plim_device_properties *ret)
{
    const plim_sim *const sim = self;
    *ret = (plim_device_properties){
        .ordinal = sim->ordinal,
        .total_bytes = sim->books.total_bytes,
        .granularity_bytes = sim->ops.map == NULL ? 0 : sim->books.granularity_bytes,
    };
    (void)snprintf(ret->name, sizeof ret->name, "%s", sim->name);
}

static plim_status info(void *self, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes,
                        plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_INFO };
    if (plim_sim_begin(sim, &record, err)) {
        *ret_free_bytes = plim_books_free_bytes(&sim->books);
        *ret_total_bytes = sim->books.total_bytes;
    }
    return plim_sim_end(sim, &record);
}

/* --- making it --- */

static void destroy(void *self)
{
    plim_sim *const sim = self;
    plim_books_deinit(&sim->books);
    plim_space_deinit(&sim->plain);
    plim_space_deinit(&sim->reserved);
    plim_space_deinit(&sim->guests);
    plim_map_deinit(&sim->plain_bytes);
    plim_queues_deinit(&sim->queues);
    (void)pthread_mutex_destroy(&sim->lock);
    plim_mem_free(sim->mem, sim, 1, sizeof *sim);
}

static plim_status check(const plim_sim_options *options, plim_error *err)
{
    const uint64_t granularity = options->granularity_bytes;
    if (options->ordinal < 0 || options->ordinal >= ORDINALS_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "sim: ordinal %" PRId32 " is not in 0 … %d",
                         options->ordinal, ORDINALS_MAX - 1);
    }
    if (options->total_bytes == 0 || options->total_bytes > TOTAL_BYTES_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "sim: a device of %" PRIu64 " bytes; 1 to %" PRIu64 " are possible",
                         options->total_bytes, TOTAL_BYTES_MAX);
    }
    if ((granularity & (granularity - 1)) != 0 || granularity > PLIM_DEVICE_GRANULARITY_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "sim: a granularity of %" PRIu64
                         " bytes, which must be a power of two up to 1 GiB",
                         granularity);
    }
    return PLIM_OK;
}

static void init(plim_sim *sim, const plim_sim_options *options)
{
    const plim_mem *const mem = plim_mem_or_heap(options->mem);
    *sim = (plim_sim){
        .mem = mem,
        .ordinal = options->ordinal,
        .costs = options->costs,
        .on_call = options->on_call,
        .on_call_ctx = options->on_call_ctx,
        .ops = { .properties = properties, .info = info, .destroy = destroy },
    };
    (void)snprintf(sim->name, sizeof sim->name, "%s",
                   options->name != NULL ? options->name : "sim");
    (void)pthread_mutex_init(&sim->lock, NULL);
    plim_books_init(&sim->books, mem, sim->name);
    sim->books.total_bytes = options->total_bytes;
    sim->books.used_bytes = options->used_bytes;
    sim->books.granularity_bytes = options->granularity_bytes != 0 ? options->granularity_bytes
                                                                   : PLIM_DEVICE_GRANULARITY_BYTES;
    plim_space_init(&sim->plain, mem);
    plim_space_init(&sim->reserved, mem);
    plim_space_init(&sim->guests, mem);
    plim_map_init(&sim->plain_bytes, mem);
    plim_queues_init(&sim->queues, mem, sim->name);
    sim->queues.is_manual = options->has_manual_fences;
    plim_sim_memory_ops(&sim->ops, !options->cannot_map);
    plim_sim_stream_ops(&sim->ops);
}

plim_status plim_sim_create(const plim_sim_options *options, plim_device *ret_device,
                            plim_error *err)
{
    PLIM_TRY(check(options, err));
    const plim_mem *const mem = plim_mem_or_heap(options->mem);
    plim_sim *const sim = plim_mem_alloc(mem, 1, sizeof *sim);
    if (sim == NULL) {
        return plim_fail_memory(err, "making a sim device");
    }
    init(sim, options);
    /* The default stream is there from the start. */
    if (!plim_sim_add_windows(sim) || plim_queues_of(&sim->queues, 0) == NULL) {
        destroy(sim);
        return plim_fail_memory(err, "making a sim device");
    }
    *ret_device = (plim_device){ .ops = &sim->ops, .self = sim };
    return PLIM_OK;
}

/* --- controls --- */

static plim_sim *locked(const plim_device *device)
{
    PLIM_ASSERT(device->ops->destroy == destroy); /* a sim device */
    plim_sim *const sim = device->self;
    (void)pthread_mutex_lock(&sim->lock);
    return sim;
}

static void unlock(plim_sim *sim)
{
    (void)pthread_mutex_unlock(&sim->lock);
}

void plim_sim_place_next(const plim_device *device, plim_addr addr)
{
    plim_sim *const sim = locked(device);
    sim->wanted = addr;
    unlock(sim);
}

void plim_sim_complete(const plim_device *device, plim_stream stream)
{
    plim_sim *const sim = locked(device);
    plim_queues_complete(&sim->queues, stream);
    unlock(sim);
}

void plim_sim_complete_all(const plim_device *device)
{
    plim_sim *const sim = locked(device);
    plim_queues_complete_all(&sim->queues);
    unlock(sim);
}

void plim_sim_set_capturing(const plim_device *device, plim_stream stream, bool capturing)
{
    plim_sim *const sim = locked(device);
    plim_queue *const found = plim_queues_of(&sim->queues, stream);
    if (found != NULL) {
        found->is_capturing = capturing;
    }
    unlock(sim);
}

void plim_sim_set_used(const plim_device *device, uint64_t used_bytes)
{
    plim_sim *const sim = locked(device);
    sim->books.used_bytes = used_bytes;
    unlock(sim);
}

void plim_sim_fail(const plim_device *device, plim_device_call call, uint64_t nth,
                   plim_status status)
{
    PLIM_ASSERT((size_t)call < PLIM_DEVICE_CALL_COUNT);
    PLIM_ASSERT(nth == 0 || status != PLIM_OK);
    plim_sim *const sim = locked(device);
    sim->failures[call] = (plim_sim_failure){ .in = nth, .status = status };
    unlock(sim);
}

uint64_t plim_sim_calls(const plim_device *device, plim_device_call call)
{
    plim_sim *const sim = locked(device);
    uint64_t calls = 0;
    for (size_t i = 0; i < PLIM_DEVICE_CALL_COUNT; i++) {
        calls += call == PLIM_DEVICE_CALL_COUNT || (size_t)call == i ? sim->calls[i] : 0;
    }
    unlock(sim);
    return calls;
}

uint64_t plim_sim_clock_ns(const plim_device *device)
{
    plim_sim *const sim = locked(device);
    const uint64_t clock_ns = sim->clock_ns;
    unlock(sim);
    return clock_ns;
}

uint64_t plim_sim_taken_bytes(const plim_device *device)
{
    plim_sim *const sim = locked(device);
    const uint64_t taken_bytes = sim->books.taken_bytes;
    unlock(sim);
    return taken_bytes;
}
