/*
 * need_parts.c - the memory at the peak of a rehearsal, by category. See rehearsal.h.
 *
 * Room phases judges, by a snapshot with all events.
 */
#include "base/numbers.h"
#include "phases/categories.h"
#include "rehearse/rehearsal.h"

#include "plimsoll/load.h"
#include "plimsoll/timeline.h"

#include <string.h>

/* The agent's peak and that of the history are of the same allocator: they differ by rounding. */
#define TOLERANCE_DIVISOR 100u

/* The moment with the most allocated bytes. False: no memory. */
static bool find_peak(const plim_timeline *timeline, int64_t *ret_moment, uint64_t *ret_bytes)
{
    plim_cursor *cursor = NULL;
    if (plim_cursor_create(timeline, &cursor, NULL) != PLIM_OK) {
        return false;
    }
    *ret_moment = PLIM_AT_START;
    *ret_bytes = plim_cursor_figures(cursor).allocated_bytes;
    while (plim_cursor_next(cursor)) {
        const uint64_t bytes = plim_cursor_figures(cursor).allocated_bytes;
        if (bytes > *ret_bytes) {
            *ret_bytes = bytes;
            *ret_moment = plim_cursor_moment(cursor);
        }
    }
    plim_cursor_destroy(cursor);
    return true;
}

static bool is_near(uint64_t bytes, uint64_t other)
{
    const uint64_t most = plim_max(bytes, other);
    return most - (bytes < other ? bytes : other) <= most / TOLERANCE_DIVISOR;
}

static bool sort_peak(const plim_timeline *timeline, uint64_t peak_bytes, const plim_mem *mem,
                      uint64_t ret_bytes[PLIM_CATEGORY_COUNT])
{
    int64_t moment = 0;
    uint64_t bytes = 0;
    plim_categories categories = { 0 };
    if (!find_peak(timeline, &moment, &bytes) || !is_near(bytes, peak_bytes) ||
        plim_categories_init(&categories, timeline, mem, NULL) != PLIM_OK) {
        return false;
    }
    memset(ret_bytes, 0, PLIM_CATEGORY_COUNT * sizeof(*ret_bytes));
    plim_live live = plim_timeline_live(timeline, moment, false);
    plim_allocation one;
    while (plim_live_next(&live, &one)) {
        uint64_t *const sum = &ret_bytes[categories.of[one.id]];
        *sum = plim_plus(*sum, one.block_bytes);
    }
    plim_categories_deinit(&categories);
    return true;
}

bool plim_need_parts(const char *snapshot, uint32_t device, uint64_t peak_bytes,
                     const plim_mem *mem, uint64_t ret_bytes[PLIM_CATEGORY_COUNT])
{
    const plim_load_options options = { .mem = mem };
    plim_history *history = NULL;
    bool is_sorted = false;
    if (plim_history_load(snapshot, &options, &history, NULL) != PLIM_OK) {
        return false;
    }
    for (size_t i = 0; i < plim_history_device_count(history) && !is_sorted; i++) {
        plim_timeline *timeline = NULL;
        const plim_timeline_options how = { .mem = mem };
        if (plim_history_device(history, i)->device == (int32_t)device &&
            plim_timeline_create(history, i, &how, &timeline, NULL) == PLIM_OK) {
            is_sorted = sort_peak(timeline, peak_bytes, mem, ret_bytes);
            plim_timeline_destroy(timeline);
        }
    }
    plim_history_destroy(history);
    return is_sorted;
}
