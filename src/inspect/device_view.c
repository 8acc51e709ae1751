/*
 * device_view.c - timeline, grouper, categories and steps of a device; moments by their names.
 */
#include "inspect/device_view.h"

#include "base/error.h"
#include "inspect/end_state.h"

#include <inttypes.h>

plim_status plim_device_view_init_timeline(plim_device_view *view, const plim_history *history,
                                           const plim_device_history *device, const plim_mem *mem,
                                           plim_error *err)
{
    *view = (plim_device_view){ .mem = plim_mem_or_heap(mem),
                                .history = history,
                                .device = device,
                                .rule = plim_recorded_rule_of(history) };
    const plim_timeline_options options = { .mem = view->mem,
                                            .rule = plim_recorded_block_rule(&view->rule) };
    PLIM_TRY(plim_timeline_init(&view->timeline, history, device, &options, err));
    return plim_grouper_init(&view->grouper, history, view->mem, err);
}

plim_status plim_device_view_init(plim_device_view *view, const plim_history *history,
                                  const plim_device_history *device, const plim_mem *mem,
                                  plim_error *err)
{
    PLIM_TRY(plim_device_view_init_timeline(view, history, device, mem, err));
    PLIM_TRY(plim_categories_init(&view->categories, &view->timeline, view->mem, err));
    return plim_steps_init(&view->steps, history, device, view->mem, err);
}

void plim_device_view_deinit(plim_device_view *view)
{
    plim_grouper_deinit(&view->grouper);
    plim_steps_deinit(&view->steps);
    plim_categories_deinit(&view->categories);
    plim_timeline_deinit(&view->timeline);
    *view = (plim_device_view){ 0 };
}

plim_moment plim_moment_of(const plim_running *running, const plim_events *events, int64_t event)
{
    const plim_figures figures = plim_running_figures(running);
    plim_moment moment = {
        .event = event,
        .time_us = event < 0 ? PLIM_TIME_UNKNOWN : events->time_us[event],
        .requested_bytes = figures.requested_bytes,
        .allocated_bytes = figures.allocated_bytes,
        .allocated_slack_bytes = figures.allocated_slack_bytes,
        .active_bytes = figures.active_bytes,
        .active_slack_bytes = figures.active_slack_bytes,
        .reserved_bytes = figures.reserved_bytes,
        .live_count = figures.live_count,
    };
    moment.fragmentation = plim_fragmentation(moment.allocated_bytes, moment.reserved_bytes);
    return moment;
}

plim_moment plim_device_view_sums(const plim_device_view *view, int64_t event)
{
    plim_cursor cursor;
    plim_cursor_init(&cursor, &view->timeline);
    while (plim_cursor_moment(&cursor) < event && plim_cursor_next(&cursor)) {
    }
    return plim_moment_of(&cursor.now, &view->device->events, plim_cursor_moment(&cursor));
}

/* The first moment of [first, end) at which requested bytes are highest; `first` may be
 * PLIM_AT_START. */
static int64_t highest(const plim_device_view *view, int64_t first, int64_t end)
{
    plim_cursor cursor;
    plim_cursor_init(&cursor, &view->timeline);
    int64_t found = first;
    uint64_t most = 0;
    bool is_seen = false;
    do {
        const int64_t moment = plim_cursor_moment(&cursor);
        const uint64_t bytes = plim_cursor_figures(&cursor).requested_bytes;
        if (moment >= end) {
            break;
        }
        if (moment >= first && (!is_seen || bytes > most)) {
            is_seen = true;
            most = bytes;
            found = moment;
        }
    } while (plim_cursor_next(&cursor));
    return found;
}

static plim_status find_step(const plim_device_view *view, plim_moment_choice choice,
                             int64_t *ret_event, plim_error *err)
{
    const plim_steps *const steps = &view->steps;
    if (choice.number >= steps->count) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "there is no step %" PRIu64 ": %zu were found",
                         choice.number, steps->count);
    }
    const int64_t first = (int64_t)steps->first_events[choice.number];
    const int64_t end = (int64_t)steps->first_events[choice.number + 1];
    *ret_event = choice.kind == PLIM_MOMENT_STEP_END ? end - 1 : highest(view, first, end);
    return PLIM_OK;
}

static plim_status find_oom(const plim_device_view *view, uint64_t number, int64_t *ret_event,
                            plim_error *err)
{
    const plim_events *const events = &view->device->events;
    uint64_t seen = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] == PLIM_OOM && seen++ == number) {
            *ret_event = (int64_t)i;
            return PLIM_OK;
        }
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT,
                     "there is no failure %" PRIu64 ": %" PRIu64 " were recorded", number, seen);
}

plim_status plim_device_view_moment(const plim_device_view *view, plim_moment_choice choice,
                                    int64_t *ret_event, plim_error *err)
{
    const uint64_t count = view->device->events.count;
    switch (choice.kind) {
    case PLIM_MOMENT_PEAK:
        *ret_event = highest(view, PLIM_AT_START, (int64_t)count);
        return PLIM_OK;
    case PLIM_MOMENT_START:
        *ret_event = PLIM_AT_START;
        return PLIM_OK;
    case PLIM_MOMENT_END:
        *ret_event = (int64_t)count - 1;
        return PLIM_OK;
    case PLIM_MOMENT_STEP_PEAK:
    case PLIM_MOMENT_STEP_END:
        return find_step(view, choice, ret_event, err);
    case PLIM_MOMENT_OOM:
        return find_oom(view, choice.number, ret_event, err);
    case PLIM_MOMENT_EVENT:
        break;
    }
    if (choice.number >= count) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "there is no event %" PRIu64 ": %" PRIu64 " were recorded", choice.number,
                         count);
    }
    *ret_event = (int64_t)choice.number;
    return PLIM_OK;
}
