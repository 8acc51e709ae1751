/*
 * restoring.h - what tests of restoring an allocator share: one that is restored, and how it looks
 * then.
 */
#ifndef PLIMSOLL_TESTS_ALLOC_RESTORING_H
#define PLIMSOLL_TESTS_ALLOC_RESTORING_H

#include "alloc/restore.h"
#include "base/units.h"
#include "harness.h"

#define DEVICE_SIZE (2 * GIB)

static plim_error failure;

/* An allocator over a device of its own. */
typedef struct subject {
    plim_device device;
    plim_allocator *allocator;
} subject;

static inline void create(subject *to, const char *conf, const plim_mem *mem)
{
    plim_settings settings = plim_settings_default();
    T_EQ_I64(plim_settings_parse(conf, &settings, &failure), PLIM_OK);
    const plim_sim_options sim = { .total_bytes = DEVICE_SIZE };
    T_EQ_I64(plim_sim_create(&sim, &to->device, &failure), PLIM_OK);
    const plim_allocator_options options = {
        .mem = mem, .devices = &to->device, .device_count = 1, .settings = &settings
    };
    if (plim_allocator_create(&options, &to->allocator, &failure) != PLIM_OK) {
        fail_msg("%s", failure.message);
    }
}

static inline void destroy(subject *gone)
{
    plim_allocator_destroy(gone->allocator);
    T_EQ_U64(plim_sim_taken_bytes(&gone->device), 0);
    plim_device_destroy(&gone->device);
}

static inline void check(const subject *whole)
{
    if (plim_allocator_check(whole->allocator, &failure) != PLIM_OK) {
        fail_msg("%s", failure.message);
    }
}

static inline void place(void *ctx, plim_addr addr)
{
    const plim_device *const device = ctx;
    plim_sim_place_next(device, addr);
}

static inline plim_history *snapshot_of(const subject *from)
{
    plim_history *history = NULL;
    T_EQ_I64(plim_allocator_snapshot(from->allocator, NULL, false, &history, &failure), PLIM_OK);
    return history;
}

/* Peaks and sums are of what was restored. */
static inline void expect_fresh_stats(const subject *of)
{
    plim_device_stats stats;
    T_EQ_I64(plim_allocator_stats(of->allocator, 0, &stats, &failure), PLIM_OK);
    for (int family = 0; family < PLIM_STAT_COUNT; family++) {
        for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
            const plim_stat *const stat = &stats.families[family][slot];
            T_EQ_I64(stat->peak, stat->current);
            T_EQ_I64(stat->allocated, stat->current);
            T_EQ_I64(stat->freed, 0);
        }
    }
    T_EQ_I64(stats.num_ooms, 0);
    T_EQ_I64(stats.num_device_free, 0);
}

#endif
