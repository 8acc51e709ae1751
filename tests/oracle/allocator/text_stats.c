/* text_stats.c - statistics as text: how they moved, and all of them. See text.h. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_any_completion; /* of inactive_split only what it comes to counts */
static const char *const family_names[] = { "al", "alB", "ac", "acB", "rqB",
                                            "is", "isB", "sg", "rsB" };
static plim_device_stats before[SCRIPT_DEVICES_MAX];
static int32_t line_device; /* of the line being written, or -1 */

void text_any_completion_order(void)
{
    is_any_completion = true;
}

/* The start of a token: the first of a line opens it. */
static void open_token(int32_t device, const char *name, const char *slot)
{
    if (line_device != device) {
        line_device = device;
        (void)printf("~%d", device);
    }
    (void)printf(" %s%s", name, slot);
}

/* Writes how a stat moved, where current and peak follow from what was added and taken away. */
static void write_moved(int32_t device, const char *name, const char *slot, const plim_stat *old,
                        const plim_stat *now)
{
    const int64_t added = now->allocated - old->allocated;
    const int64_t taken = now->freed - old->freed;
    const bool is_current_odd = now->current != old->current + added - taken;
    const bool is_peak_odd = now->peak != (now->current > old->peak ? now->current : old->peak);
    if (added == 0 && taken == 0 && !is_current_odd && !is_peak_odd) {
        return;
    }
    open_token(device, name, slot);
    if (added < 0 || taken < 0) { /* the counters were reset */
        (void)printf("=%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, now->current, now->peak,
                     now->allocated, now->freed);
        return;
    }
    if (added != 0) {
        (void)printf("+%" PRId64, added);
    }
    if (taken != 0) {
        (void)printf("-%" PRId64, taken);
    }
    if (is_current_odd) {
        (void)printf("=%" PRId64, now->current);
    }
    if (is_peak_odd) {
        (void)printf("^%" PRId64, now->peak);
    }
}

/* How blocks merge on the way decides what is added and taken away, not what is there then. */
static void write_net(int32_t device, const char *name, const plim_stat *old, const plim_stat *now)
{
    static const char *const slots[] = { ".A", ".S", ".L" };
    for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
        if (now[slot].current != old[slot].current) {
            open_token(device, name, slots[slot]);
            (void)printf("%+" PRId64, now[slot].current - old[slot].current);
        }
    }
}

static bool is_net(int family)
{
    return is_any_completion &&
           (family == PLIM_STAT_INACTIVE_SPLIT || family == PLIM_STAT_INACTIVE_SPLIT_BYTES);
}

/* "all" is left out where it is what small and large add up to. */
static void write_all(int32_t device, const char *name, const plim_stat *old, const plim_stat *now)
{
    plim_stat expected = old[PLIM_SLOT_ALL];
    for (int slot = PLIM_SLOT_SMALL; slot <= PLIM_SLOT_LARGE; slot++) {
        expected.allocated += now[slot].allocated - old[slot].allocated;
        expected.freed += now[slot].freed - old[slot].freed;
        expected.current += now[slot].current - old[slot].current;
    }
    if (expected.current > expected.peak) {
        expected.peak = expected.current;
    }
    const plim_stat *const all = &now[PLIM_SLOT_ALL];
    if (expected.allocated != all->allocated || expected.freed != all->freed ||
        expected.current != all->current || expected.peak != all->peak) {
        open_token(device, name, ".A");
        (void)printf("=%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, all->current, all->peak,
                     all->allocated, all->freed);
    }
}

static void write_count(int32_t device, const char *name, int64_t old, int64_t now)
{
    if (old != now) {
        open_token(device, name, "");
        (void)printf("=%" PRId64, now);
    }
}

void text_stats(int32_t device, const plim_device_stats *now)
{
    const plim_device_stats *const old = &before[device];
    line_device = -1;
    for (int family = 0; family < PLIM_STAT_COUNT; family++) {
        const plim_stat *const was = old->families[family];
        const plim_stat *const is = now->families[family];
        const char *const name = family_names[family];
        if (is_net(family)) {
            write_net(device, name, was, is);
            continue;
        }
        write_moved(device, name, ".S", &was[PLIM_SLOT_SMALL], &is[PLIM_SLOT_SMALL]);
        write_moved(device, name, ".L", &was[PLIM_SLOT_LARGE], &is[PLIM_SLOT_LARGE]);
        write_all(device, name, was, is);
    }
    write_moved(device, "os", "", &old->oversize_allocations, &now->oversize_allocations);
    write_moved(device, "osg", "", &old->oversize_segments, &now->oversize_segments);
    write_count(device, "retries", old->num_alloc_retries, now->num_alloc_retries);
    write_count(device, "ooms", old->num_ooms, now->num_ooms);
    write_count(device, "syncs", old->num_sync_all_streams, now->num_sync_all_streams);
    write_count(device, "devalloc", old->num_device_alloc, now->num_device_alloc);
    write_count(device, "devfree", old->num_device_free, now->num_device_free);
    write_count(device, "maxsplit", old->max_split_size, now->max_split_size);
    if (line_device >= 0) {
        (void)printf("\n");
    }
    before[device] = *now;
}

static void write_stat(const plim_stat *stat)
{
    (void)printf(" %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, stat->current, stat->peak,
                 stat->allocated, stat->freed);
}

void text_stats_all(int32_t device, const plim_device_stats *now)
{
    (void)printf("stats %d", device);
    for (int family = 0; family < PLIM_STAT_COUNT; family++) {
        for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
            const plim_stat *const stat = &now->families[family][slot];
            if (is_net(family)) {
                (void)printf(" %" PRId64, stat->current);
            } else {
                write_stat(stat);
            }
        }
    }
    write_stat(&now->oversize_allocations);
    write_stat(&now->oversize_segments);
    (void)printf(" %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
                 now->num_alloc_retries, now->num_ooms, now->num_sync_all_streams,
                 now->num_device_alloc, now->num_device_free, now->max_split_size);
}
