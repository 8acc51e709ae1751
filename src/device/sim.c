/*
 * sim.c - the device of addresses and counters: its making, its properties, its controls.
 */
#include "device/sim.h"

#include "base/assert.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>

#define ORDINALS_MAX  32
#define SIM_BYTES_MAX (UINT64_C(64) << 40) /* what a window of sim_windows.c has room for */

static void properties(void *self, plim_device_properties *ret)
{
    const plim_sim *const sim = self;
    *ret = (plim_device_properties){
        .ordinal = sim->core.ordinal,
        .total_bytes = sim->core.books.total_bytes,
        .granularity_bytes = sim->core.ops.map == NULL ? 0 : sim->core.books.granularity_bytes,
    };
    (void)snprintf(ret->name, sizeof ret->name, "%s", sim->core.name);
}

/* --- making it --- */

static void destroy(void *self)
{
    plim_sim *const sim = self;
    plim_core_deinit(&sim->core);
    plim_space_deinit(&sim->plain);
    plim_space_deinit(&sim->reserved);
    plim_space_deinit(&sim->guests);
    plim_mem_free(sim->core.mem, sim, 1, sizeof *sim);
}

static plim_status check(const plim_sim_options *options, plim_error *err)
{
    const uint64_t granularity = options->granularity_bytes;
    if (options->ordinal < 0 || options->ordinal >= ORDINALS_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "sim: ordinal %" PRId32 " is not in 0 … %d",
                         options->ordinal, ORDINALS_MAX - 1);
    }
    if (options->total_bytes == 0 || options->total_bytes > SIM_BYTES_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "sim: a device of %" PRIu64 " bytes; 1 to %" PRIu64 " are possible",
                         options->total_bytes, SIM_BYTES_MAX);
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
    plim_device_core *const core = &sim->core;
    *sim = (plim_sim){ .place = options->place, .place_ctx = options->place_ctx };
    plim_core_init(core, mem, options->name != NULL ? options->name : "sim", options->total_bytes,
                   options->granularity_bytes);
    core->is_unshared = options->is_unshared;
    core->ordinal = options->ordinal;
    core->costs = options->costs;
    core->on_call = options->on_call;
    core->on_call_ctx = options->on_call_ctx;
    core->books.used_bytes = options->used_bytes;
    core->queues.is_manual = options->has_manual_fences;
    core->queues.manual_first = options->manual_first;
    core->queues.manual_count = options->manual_count;
    core->ops.properties = properties;
    core->ops.destroy = destroy;
    plim_space_init(&sim->plain, mem);
    plim_space_init(&sim->reserved, mem);
    plim_space_init(&sim->guests, mem);
    plim_sim_memory_ops(&core->ops, !options->cannot_map);
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
    if (!plim_sim_add_windows(sim) || plim_queues_of(&sim->core.queues, 0) == NULL) {
        destroy(sim);
        return plim_fail_memory(err, "making a sim device");
    }
    *ret_device = (plim_device){ .ops = &sim->core.ops, .self = sim };
    return PLIM_OK;
}

/* --- controls --- */

static plim_sim *sim_of(const plim_device *device)
{
    PLIM_ASSERT(device->ops->destroy == destroy); /* a sim device */
    return device->self;
}

void plim_sim_place_next(const plim_device *device, plim_addr addr)
{
    plim_sim *const sim = sim_of(device);
    PLIM_CORE_HOLD(&sim->core);
    sim->wanted = addr;
}

void plim_sim_complete(const plim_device *device, plim_stream stream)
{
    plim_sim *const sim = sim_of(device);
    PLIM_CORE_HOLD(&sim->core);
    plim_queues_complete(&sim->core.queues, stream);
}

void plim_sim_complete_all(const plim_device *device)
{
    plim_sim *const sim = sim_of(device);
    PLIM_CORE_HOLD(&sim->core);
    plim_queues_complete_all(&sim->core.queues);
}

plim_status plim_sim_complete_first(const plim_device *device, plim_stream stream, uint64_t count)
{
    plim_sim *const sim = sim_of(device);
    PLIM_CORE_HOLD(&sim->core);
    return plim_queues_complete_first(&sim->core.queues, stream, count) ? PLIM_OK
                                                                        : PLIM_OUT_OF_HOST_MEMORY;
}

void plim_sim_set_waiting(const plim_device *device, bool completes_fences)
{
    plim_sim *const sim = sim_of(device);
    PLIM_CORE_HOLD(&sim->core);
    sim->core.is_lenient = !completes_fences;
}

void plim_sim_set_capturing(const plim_device *device, plim_stream stream, bool capturing)
{
    plim_sim *const sim = sim_of(device);
    PLIM_CORE_HOLD(&sim->core);
    plim_queue *const found = plim_queues_of(&sim->core.queues, stream);
    if (found != NULL) {
        found->is_capturing = capturing;
    }
}

void plim_sim_set_used(const plim_device *device, uint64_t used_bytes)
{
    plim_sim *const sim = sim_of(device);
    PLIM_CORE_HOLD(&sim->core);
    sim->core.books.used_bytes = used_bytes;
}

void plim_sim_fail(const plim_device *device, plim_device_call call, uint64_t nth,
                   plim_status status)
{
    PLIM_ASSERT((size_t)call < PLIM_DEVICE_CALL_COUNT);
    PLIM_ASSERT(nth == 0 || status != PLIM_OK);
    plim_sim *const sim = sim_of(device);
    PLIM_CORE_HOLD(&sim->core);
    sim->core.failures[call] = (plim_core_failure){ .in = nth, .status = status };
}

plim_sim_counts plim_sim_count(const plim_device *device)
{
    plim_sim *const sim = sim_of(device);
    PLIM_CORE_HOLD(&sim->core);
    return sim->core.counts;
}

plim_sim_counts plim_sim_take_counts(const plim_device *device)
{
    plim_sim *const sim = sim_of(device);
    PLIM_CORE_HOLD(&sim->core);
    const plim_sim_counts counts = sim->core.counts;
    sim->core.counts = (plim_sim_counts){ .refusals = 0 };
    return counts;
}

uint64_t plim_sim_calls(const plim_device *device, plim_device_call call)
{
    const plim_sim_counts counts = plim_sim_count(device);
    uint64_t calls = 0;
    for (size_t i = 0; i < PLIM_DEVICE_CALL_COUNT; i++) {
        calls += call == PLIM_DEVICE_CALL_COUNT || (size_t)call == i ? counts.calls[i] : 0;
    }
    return calls;
}

uint64_t plim_sim_taken_bytes(const plim_device *device)
{
    plim_sim *const sim = sim_of(device);
    PLIM_CORE_HOLD(&sim->core);
    return sim->core.books.taken_bytes;
}
