/*
 * what_if.c - see what_if.h.
 */
#include "diagnose/advice/what_if.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

plim_status plim_what_if_init(plim_what_if *ret_what_if, const plim_timeline *timeline,
                              const plim_mem *mem, plim_error *err)
{
    const size_t moments = (size_t)timeline->device->events.count + 1;
    plim_what_if made = { .mem = mem, .moments = moments, .peak_event = PLIM_AT_START };
    made.live = plim_mem_alloc_zeroed(mem, moments, sizeof *made.live);
    made.change = plim_mem_alloc_zeroed(mem, moments + 1, sizeof *made.change);
    if (made.live == NULL || made.change == NULL) {
        plim_what_if_deinit(&made);
        return plim_fail_memory(err, "working out what helps");
    }
    plim_cursor cursor;
    plim_cursor_init(&cursor, timeline);
    for (size_t i = 0; i < moments; i++) {
        made.live[i] = plim_cursor_figures(&cursor).requested_bytes;
        if (made.live[i] > made.peak_bytes) {
            made.peak_bytes = made.live[i];
            made.peak_event = (int64_t)i - 1;
        }
        if (!plim_cursor_next(&cursor)) {
            break;
        }
    }
    *ret_what_if = made;
    return PLIM_OK;
}

void plim_what_if_deinit(plim_what_if *what_if)
{
    if (what_if->mem == NULL) {
        return;
    }
    plim_mem_free(what_if->mem, what_if->live, what_if->moments, sizeof *what_if->live);
    plim_mem_free(what_if->mem, what_if->change, what_if->moments + 1, sizeof *what_if->change);
    *what_if = (plim_what_if){ 0 };
}

static size_t row_of(const plim_what_if *what_if, int64_t moment)
{
    if (moment < 0) {
        return 0;
    }
    return (uint64_t)moment >= what_if->moments - 1 ? what_if->moments : (size_t)moment + 1;
}

static void change(plim_what_if *what_if, uint64_t bytes, int64_t from, int64_t to)
{
    if (from < to) {
        what_if->change[row_of(what_if, from)] += bytes;
        what_if->change[row_of(what_if, to)] -= bytes;
    }
}

void plim_what_if_more(plim_what_if *what_if, uint64_t bytes, int64_t from, int64_t to)
{
    change(what_if, bytes, from, to);
}

void plim_what_if_less(plim_what_if *what_if, uint64_t bytes, int64_t from, int64_t to)
{
    change(what_if, (uint64_t)0 - bytes, from, to);
}

uint64_t plim_what_if_saves(plim_what_if *what_if)
{
    uint64_t peak = 0;
    uint64_t added = 0;
    for (size_t i = 0; i < what_if->moments; i++) {
        added += what_if->change[i];
        const uint64_t bytes = what_if->live[i] + added;
        /* Files that contradict themselves may have less than nothing: that is no peak. */
        if (bytes > peak && bytes <= INT64_MAX) {
            peak = bytes;
        }
    }
    memset(what_if->change, 0, (what_if->moments + 1) * sizeof *what_if->change);
    return peak < what_if->peak_bytes ? what_if->peak_bytes - peak : 0;
}

/* --- allocations --- */

plim_what_if_walk plim_what_if_lives(const plim_timeline *timeline,
                                     const plim_categories *categories, const plim_passes *passes)
{
    return (plim_what_if_walk){ .timeline = timeline, .categories = categories, .passes = passes };
}

static plim_what_if_life life_of_event(const plim_what_if_walk *walk, uint32_t event)
{
    const plim_events *const events = walk->passes->events;
    const uint32_t ended = walk->timeline->start.lifetimes.partner[event];
    const uint64_t id = plim_timeline_recorded_id(walk->timeline, event);
    return (plim_what_if_life){ .id = id,
                                .born = event,
                                .freed = ended == PLIM_NONE ? PLIM_NEVER : (int64_t)ended,
                                .bytes = events->bytes[event],
                                .stack = events->stack[event],
                                .category = (plim_category)walk->categories->of[id],
                                .pass = walk->passes->list.items[walk->pass].kind };
}

static plim_what_if_life life_at_start(const plim_what_if_walk *walk, size_t row)
{
    const plim_start_allocation *const one = &walk->timeline->start.allocations.items[row];
    return (plim_what_if_life){ .id = row,
                                .born = PLIM_AT_START,
                                .freed = one->ended_by == PLIM_NONE ? PLIM_NEVER
                                                                    : (int64_t)one->ended_by,
                                .bytes = one->requested_bytes,
                                .stack = one->stack_of_free ? PLIM_NONE : one->stack,
                                .category = (plim_category)walk->categories->of[row],
                                .pass = PLIM_PASS_SETUP };
}

bool plim_what_if_next(plim_what_if_walk *walk, plim_what_if_life *ret_life)
{
    const size_t before = walk->timeline->start.allocations.count;
    const plim_events *const events = walk->passes->events;
    if (walk->next < before) {
        *ret_life = life_at_start(walk, walk->next++);
        return true;
    }
    size_t event = walk->next - before;
    while (event < events->count && events->action[event] != PLIM_ALLOC) {
        event++;
    }
    walk->next = before + event + 1;
    if (event >= events->count) {
        walk->next = before + event;
        return false;
    }
    const plim_pass *const passes = walk->passes->list.items;
    while (walk->pass + 1 < walk->passes->list.count && passes[walk->pass + 1].first <= event) {
        walk->pass++;
    }
    *ret_life = life_of_event(walk, (uint32_t)event);
    return true;
}
