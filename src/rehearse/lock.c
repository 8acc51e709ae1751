/*
 * lock.c - entries of a lock by their names, and two entries held to each other.
 */
#include "rehearse/lock.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* --- a lock --- */

plim_status plim_lock_create(const plim_mem *mem, plim_lock **ret, plim_error *err)
{
    mem = plim_mem_or_heap(mem);
    plim_lock *const lock = plim_mem_alloc_zeroed(mem, 1, sizeof *lock);
    if (lock == NULL) {
        return plim_fail_memory(err, "making a lock");
    }
    lock->mem = mem;
    plim_arena_init(&lock->arena, mem);
    *ret = lock;
    return PLIM_OK;
}

void plim_lock_destroy(plim_lock *lock)
{
    if (lock == NULL) {
        return;
    }
    PLIM_VEC_FREE(lock->mem, &lock->entries);
    plim_arena_deinit(&lock->arena);
    plim_mem_free(lock->mem, lock, 1, sizeof *lock);
}

size_t plim_lock_count(const plim_lock *lock)
{
    return lock->entries.count;
}

const plim_lock_entry *plim_lock_at(const plim_lock *lock, size_t index)
{
    PLIM_ASSERT(index < lock->entries.count);
    return lock->entries.items[index];
}

/* --- names --- */

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By all that names an entry. */
static int compare_names(const plim_lock_entry *a, const plim_lock_entry *b)
{
    const int texts[] = { strcmp(a->command, b->command), strcmp(a->gpu, b->gpu),
                          strcmp(a->settings, b->settings) };
    const int numbers[] = { compare_u64(a->device_count, b->device_count),
                            compare_u64(a->capacity_bytes, b->capacity_bytes),
                            compare_u64(a->steps, b->steps),
                            compare_u64(a->world_size, b->world_size),
                            compare_u64(a->rank, b->rank) };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i] != 0) {
            return texts[i];
        }
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i] != 0) {
            return numbers[i];
        }
    }
    return 0;
}

const plim_lock_entry *plim_lock_find(const plim_lock *lock, const plim_lock_entry *like)
{
    for (size_t i = 0; i < lock->entries.count; i++) {
        if (compare_names(lock->entries.items[i], like) == 0) {
            return lock->entries.items[i];
        }
    }
    return NULL;
}

plim_status plim_lock_put(plim_lock *lock, const plim_lock_entry *entry, plim_error *err)
{
    size_t at = 0;
    while (at < lock->entries.count && compare_names(lock->entries.items[at], entry) < 0) {
        at++;
    }
    if (at < lock->entries.count && compare_names(lock->entries.items[at], entry) == 0) {
        lock->entries.items[at] = entry;
        return PLIM_OK;
    }
    if (!PLIM_VEC_PUSH(lock->mem, &lock->entries, entry)) {
        return plim_fail_memory(err, "adding to a lock");
    }
    for (size_t i = lock->entries.count - 1; i > at; i--) {
        lock->entries.items[i] = lock->entries.items[i - 1];
    }
    lock->entries.items[at] = entry;
    return PLIM_OK;
}

static int compare_keys(const void *left, const void *right)
{
    return plim_lock_peak_order(left, right);
}

const plim_lock_peak *plim_lock_peak_of(const plim_lock_entry *entry, uint64_t rank,
                                        uint32_t device)
{
    const plim_lock_peak like = { .rank = rank, .device = device };
    return entry->peak_count == 0
               ? NULL
               : bsearch(&like, entry->peaks, entry->peak_count, sizeof like, compare_keys);
}

/* --- comparing --- */

/* True if `high` is above `low` by more than the limit. */
static bool is_above(uint64_t high, uint64_t low, uint64_t locked, const plim_upgrade_limit *limit)
{
    return high > low && high - low > PLIM_LOCK_BYTES_LEAST && high - low > limit->bytes &&
           (double)(high - low) > limit->share * (double)locked;
}

static void add_figure(plim_lock_comparison *all, plim_lock_figure figure,
                       const plim_upgrade_limit *limit)
{
    PLIM_ASSERT(all->figure_count < all->figure_room);
    const uint64_t locked = figure.locked_bytes;
    figure.is_exceeded = is_above(figure.now_bytes, locked, locked, limit);
    figure.is_lower = is_above(locked, figure.now_bytes, locked, limit);
    all->is_exceeded = all->is_exceeded || figure.is_exceeded;
    all->is_lower = all->is_lower || figure.is_lower;
    all->figures[all->figure_count++] = figure;
}

static uint64_t phase_bytes(const plim_lock_peak *peak, const char *name)
{
    for (size_t i = 0; i < peak->phase_count; i++) {
        if (strcmp(peak->phases[i].name, name) == 0) {
            return peak->phases[i].allocated_bytes;
        }
    }
    return 0;
}

/* One rank's device; either side may lack it, but not both. */
static void compare_peaks(plim_lock_comparison *all, const plim_lock_peak *locked,
                          const plim_lock_peak *now, const plim_upgrade_limit *limit)
{
    static const plim_lock_peak nothing;
    const plim_lock_peak *const before = locked != NULL ? locked : &nothing;
    const plim_lock_peak *const after = now != NULL ? now : &nothing;
    plim_lock_figure figure = { .kind = PLIM_LOCK_ALLOCATED,
                                .rank = (now != NULL ? now : locked)->rank,
                                .device = (now != NULL ? now : locked)->device,
                                .locked_bytes = before->allocated_bytes,
                                .now_bytes = after->allocated_bytes };
    add_figure(all, figure, limit);
    figure.kind = PLIM_LOCK_RESERVED;
    figure.locked_bytes = before->reserved_bytes;
    figure.now_bytes = after->reserved_bytes;
    add_figure(all, figure, limit);
    figure.kind = PLIM_LOCK_PHASE;
    for (size_t i = 0; i < after->phase_count; i++) {
        figure.phase = after->phases[i].name;
        figure.locked_bytes = phase_bytes(before, figure.phase);
        figure.now_bytes = after->phases[i].allocated_bytes;
        add_figure(all, figure, limit);
    }
}

static size_t room_for(const plim_lock_entry *entry)
{
    size_t room = 0;
    for (size_t i = 0; i < entry->peak_count; i++) {
        room += 2 + entry->peaks[i].phase_count;
    }
    return room;
}

plim_status plim_lock_compare(const plim_lock_entry *locked, const plim_lock_entry *now,
                              const plim_upgrade_limit *limit, const plim_mem *mem,
                              plim_lock_comparison *ret, plim_error *err)
{
    plim_lock_comparison all = { .mem = plim_mem_or_heap(mem),
                                 .figure_room = room_for(locked) + room_for(now) + 1 };
    all.figures = plim_mem_alloc(all.mem, all.figure_room, sizeof *all.figures);
    if (all.figures == NULL) {
        return plim_fail_memory(err, "comparing with a lock");
    }
    for (size_t i = 0; i < now->peak_count; i++) {
        const plim_lock_peak *const peak = &now->peaks[i];
        compare_peaks(&all, plim_lock_peak_of(locked, peak->rank, peak->device), peak, limit);
    }
    for (size_t i = 0; i < locked->peak_count; i++) {
        const plim_lock_peak *const peak = &locked->peaks[i];
        if (plim_lock_peak_of(now, peak->rank, peak->device) == NULL) {
            compare_peaks(&all, peak, NULL, limit);
        }
    }
    add_figure(&all,
               (plim_lock_figure){ .kind = PLIM_LOCK_DEVICE_USE,
                                   .locked_bytes = locked->device_use_bytes,
                                   .now_bytes = now->device_use_bytes },
               limit);
    *ret = all;
    return PLIM_OK;
}

void plim_lock_comparison_deinit(plim_lock_comparison *comparison)
{
    if (comparison->figures != NULL) {
        plim_mem_free(comparison->mem, comparison->figures, comparison->figure_room,
                      sizeof *comparison->figures);
    }
    *comparison = (plim_lock_comparison){ 0 };
}
