/*
 * small_world.h - an allocator on one device, for tests that are small programs of it.
 */
#ifndef PLIMSOLL_TESTS_ALLOC_SMALL_WORLD_H
#define PLIMSOLL_TESTS_ALLOC_SMALL_WORLD_H

#include "harness.h"
#include "plimsoll/allocator.h"

typedef struct world {
    plim_device device;
    plim_allocator *allocator;
    bool is_sim;
} world;

/* The allocator of a world whose device is made; its options may leave out device and settings. */
static inline void world_open(world *made, plim_allocator_options how, const char *settings)
{
    plim_error err;
    plim_settings parsed = plim_settings_default();
    T_EQ_U64(plim_settings_parse(settings, &parsed, &err), PLIM_OK);
    how.devices = &made->device;
    how.device_count = 1;
    how.settings = &parsed;
    T_EQ_U64(plim_allocator_create(&how, &made->allocator, &err), PLIM_OK);
}

static inline world world_on_sim(uint64_t total_bytes, const char *settings)
{
    world made = { .is_sim = true };
    const plim_sim_options options = { .total_bytes = total_bytes };
    T_EQ_U64(plim_sim_create(&options, &made.device, NULL), PLIM_OK);
    world_open(&made, (plim_allocator_options){ 0 }, settings);
    return made;
}

/* Everything is sound, and a sim device has all of its memory again. */
static inline void world_end(world *made)
{
    plim_error err;
    if (plim_allocator_check(made->allocator, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    plim_allocator_destroy(made->allocator);
    if (made->is_sim) {
        T_EQ_U64(plim_sim_taken_bytes(&made->device), 0);
    }
    plim_device_destroy(&made->device);
}

static inline plim_addr world_get(const world *from, uint64_t bytes, plim_stream stream)
{
    plim_addr addr = 0;
    plim_error err;
    if (plim_malloc(from->allocator, 0, bytes, stream, &addr, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return addr;
}

static inline void world_give(const world *to, plim_addr addr)
{
    plim_error err;
    if (plim_free(to->allocator, addr, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
}

#endif
