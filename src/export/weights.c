/*
 * weights.c - stacks weighed, by the grouper of the device.
 *
 * A group is split by how its stack is known, so that no stack of a free is shown as one of an
 * allocation: a profile is read without the words that inspect prints beside it.
 */
#include "export/weights.h"

#include "base/error.h"

#include <stdlib.h>

const char *plim_weight_origin_frame(plim_weight_origin origin)
{
    static const char *const frames[] = {
#define PLIM_WEIGHT_ORIGIN_TEXT(code, text) [code] = text,
        PLIM_WEIGHT_ORIGIN_LIST(PLIM_WEIGHT_ORIGIN_TEXT)
#undef PLIM_WEIGHT_ORIGIN_TEXT
    };
    return frames[origin];
}

/* --- groups as rows --- */

static plim_weight_origin origin_before(const plim_stack_group *group)
{
    if (group->stack == PLIM_NONE) {
        return PLIM_WEIGHT_NO_STACK_BEFORE;
    }
    if (group->stack_of_free_count == 0) {
        return PLIM_WEIGHT_RECORDED; /* a block of the end has the stack of its allocation */
    }
    return group->stack_of_free_count == group->before_recording_count ? PLIM_WEIGHT_OF_FREE
                                                                       : PLIM_WEIGHT_OF_FREE_PARTLY;
}

static void add_row(plim_weights *weights, plim_weight row)
{
    if (row.count > 0) {
        weights->rows[weights->count++] = row;
    }
}

static void add_group(plim_weights *weights, const plim_stack_group *group)
{
    const plim_weight_origin before = origin_before(group);
    if (before == PLIM_WEIGHT_RECORDED) {
        add_row(weights, (plim_weight){
                             .stack = group->stack, .bytes = group->bytes, .count = group->count });
        return;
    }
    add_row(weights, (plim_weight){ .stack = group->stack,
                                    .origin = before,
                                    .bytes = group->before_recording_bytes,
                                    .count = group->before_recording_count });
    add_row(weights, (plim_weight){ .stack = group->stack,
                                    .origin = group->stack == PLIM_NONE ? PLIM_WEIGHT_NO_STACK
                                                                        : PLIM_WEIGHT_RECORDED,
                                    .bytes = group->bytes - group->before_recording_bytes,
                                    .count = group->count - group->before_recording_count });
}

static int by_name(const plim_weight *a, const plim_weight *b)
{
    if (a->stack != b->stack) {
        return a->stack > b->stack ? 1 : -1; /* PLIM_NONE is the last */
    }
    return (a->origin > b->origin) - (a->origin < b->origin);
}

static int compare_by_name(const void *left, const void *right)
{
    return by_name(left, right);
}

static int compare_by_size(const void *left, const void *right)
{
    const plim_weight *const a = left;
    const plim_weight *const b = right;
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    if (a->count != b->count) {
        return a->count > b->count ? -1 : 1;
    }
    return by_name(a, b);
}

static void sort(plim_weights *weights, int (*compare)(const void *, const void *))
{
    if (weights->count > 1) {
        qsort(weights->rows, weights->count, sizeof *weights->rows, compare);
    }
}

static plim_status make_room(plim_arena *arena, size_t count, plim_weights *ret, plim_error *err)
{
    *ret = (plim_weights){ .rows = plim_arena_alloc(arena, count * sizeof *ret->rows) };
    return ret->rows != NULL ? PLIM_OK : plim_fail_memory(err, "weighing stacks");
}

static plim_status rows_of(plim_arena *arena, const plim_stack_group *groups, size_t count,
                           plim_weights *ret, plim_error *err)
{
    PLIM_TRY(make_room(arena, 2 * count, ret, err));
    for (size_t i = 0; i < count; i++) {
        add_group(ret, &groups[i]);
    }
    sort(ret, compare_by_size);
    return PLIM_OK;
}

plim_status plim_weights_live(plim_device_view *view, plim_arena *arena, int64_t event,
                              plim_weights *ret_weights, plim_error *err)
{
    plim_moment moment = { .event = event };
    PLIM_TRY(plim_group_moment(&view->grouper, &view->timeline, arena, &moment, err));
    return rows_of(arena, moment.groups, moment.group_count, ret_weights, err);
}

/* --- spans --- */

/* Two sorted lists into one: a row of both has the figures of both. */
static void merge(const plim_weights *before, const plim_weights *after, plim_weights *both)
{
    size_t i = 0;
    size_t j = 0;
    while (i < before->count || j < after->count) {
        const plim_weight *const old = i < before->count ? &before->rows[i] : NULL;
        const plim_weight *const new = j < after->count ? &after->rows[j] : NULL;
        int order = old == NULL ? 1 : -1;
        if (old != NULL && new != NULL) {
            order = by_name(old, new);
        }
        plim_weight row =
            order < 0 ? (plim_weight){ .stack = old->stack, .origin = old->origin } : *new;
        if (order <= 0) {
            row.before_bytes = old->bytes;
            row.before_count = old->count;
            i++;
        }
        j += order >= 0;
        both->rows[both->count++] = row;
    }
}

plim_status plim_weights_difference(plim_device_view *view, plim_arena *arena,
                                    plim_weights_span span, plim_weights *ret_weights,
                                    plim_error *err)
{
    plim_weights before = { 0 };
    plim_weights after = { 0 };
    PLIM_TRY(plim_weights_live(view, arena, span.from, &before, err));
    PLIM_TRY(plim_weights_live(view, arena, span.until, &after, err));
    PLIM_TRY(make_room(arena, before.count + after.count, ret_weights, err));
    sort(&before, compare_by_name);
    sort(&after, compare_by_name);
    merge(&before, &after, ret_weights);
    sort(ret_weights, compare_by_size);
    return PLIM_OK;
}

plim_status plim_weights_growth(plim_device_view *view, plim_arena *arena, plim_weights_span span,
                                plim_weights *ret_weights, uint64_t *ret_shrunk_bytes,
                                plim_error *err)
{
    plim_weights both = { 0 };
    PLIM_TRY(plim_weights_difference(view, arena, span, &both, err));
    plim_weights grown = { .rows = both.rows };
    plim_total shrunk = 0;
    for (size_t i = 0; i < both.count; i++) {
        plim_weight row = both.rows[i];
        if (row.bytes > row.before_bytes) {
            row.bytes -= row.before_bytes;
            row.count = row.count > row.before_count ? row.count - row.before_count : 0;
            row.before_bytes = 0;
            row.before_count = 0;
            grown.rows[grown.count++] = row;
        } else {
            shrunk += row.before_bytes - row.bytes;
        }
    }
    sort(&grown, compare_by_size);
    *ret_weights = grown;
    *ret_shrunk_bytes = plim_total_bytes(shrunk);
    return PLIM_OK;
}

plim_status plim_weights_allocated(plim_device_view *view, plim_arena *arena,
                                   plim_weights_span span, const plim_category *category,
                                   plim_weights *ret_weights, plim_error *err)
{
    const plim_events *const events = &view->device->events;
    for (int64_t i = span.from + 1; i <= span.until; i++) {
        if (events->action[i] != PLIM_ALLOC) {
            continue;
        }
        const uint64_t id = plim_timeline_about(&view->timeline, (uint64_t)i);
        if (id == PLIM_NO_ALLOCATION ||
            (category != NULL && view->categories.of[id] != *category)) {
            continue;
        }
        const plim_allocation one = plim_timeline_allocation(&view->timeline, id);
        plim_group_add(&view->grouper, &one);
    }
    const plim_stack_group *groups = NULL;
    size_t count = 0;
    PLIM_TRY(plim_group_take(&view->grouper, arena, &groups, &count, err));
    return rows_of(arena, groups, count, ret_weights, err);
}
