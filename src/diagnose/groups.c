/*
 * groups.c - one scan over the events before a moment, adding up what had not ended.
 *
 * An allocation is live at a moment when it began at or before it and its partner, what ends it
 * (history/lifetimes.h), comes later. So no live set has to be kept or replayed, and the scan
 * runs along columns.
 */
#include "diagnose/groups.h"

#include "base/error.h"
#include "diagnose/frame_kind.h"

#include <stdlib.h>

/* Why groups of one stack are kept apart. */
enum { RECORDED, BEFORE, BEFORE_BY_FREE, KIND_COUNT };

/* Stack 0, 1, 2, … and last none; the order of keys is the last word in that of groups. */
static uint64_t key_of(const plim_grouper *grouper, uint32_t stack, uint64_t kind)
{
    const uint64_t row = stack == PLIM_NONE ? plim_history_stack_count(grouper->history) : stack;
    return row * KIND_COUNT + kind;
}

static uint64_t key_count(const plim_history *history)
{
    return ((uint64_t)plim_history_stack_count(history) + 1) * KIND_COUNT;
}

plim_status plim_grouper_init(plim_grouper *grouper, const plim_history *history,
                              const plim_mem *mem, plim_error *err)
{
    *grouper = (plim_grouper){ .history = history, .mem = mem };
    const uint32_t frames = plim_history_frame_count(history);
    grouper->group_of = plim_mem_alloc_zeroed(mem, key_count(history), sizeof *grouper->group_of);
    if (frames > 0) {
        grouper->kinds = plim_mem_alloc_zeroed(mem, frames, sizeof *grouper->kinds);
    }
    if (grouper->group_of == NULL || (frames > 0 && grouper->kinds == NULL)) {
        plim_grouper_deinit(grouper);
        return plim_fail_memory(err, "grouping allocations by stack");
    }
    return PLIM_OK;
}

void plim_grouper_deinit(plim_grouper *grouper)
{
    if (grouper->mem == NULL) {
        return;
    }
    plim_mem_free(grouper->mem, grouper->group_of, key_count(grouper->history),
                  sizeof *grouper->group_of);
    plim_mem_free(grouper->mem, grouper->kinds, plim_history_frame_count(grouper->history),
                  sizeof *grouper->kinds);
    PLIM_VEC_FREE(grouper->mem, &grouper->sums);
    *grouper = (plim_grouper){ 0 };
}

/* --- adding up --- */

static bool add(plim_grouper *grouper, uint64_t key, uint64_t bytes)
{
    uint32_t *const group = &grouper->group_of[key];
    if (*group == 0) {
        const plim_group_sum fresh = { .key = key };
        if (!PLIM_VEC_PUSH(grouper->mem, &grouper->sums, fresh)) {
            return false;
        }
        *group = (uint32_t)grouper->sums.count;
    }
    plim_group_sum *const sum = &grouper->sums.items[*group - 1];
    sum->bytes += bytes;
    sum->count++;
    return true;
}

/* Whether what this event ends was still live after event `moment`. */
static bool ends_after(uint32_t end, int64_t moment)
{
    return end == PLIM_NONE || (int64_t)end > moment;
}

static bool add_start(plim_grouper *grouper, const plim_start *start, int64_t moment)
{
    for (size_t i = 0; i < start->allocations.count; i++) {
        const plim_start_allocation *const allocation = &start->allocations.items[i];
        /* "The stack of its free" says nothing where there is no stack. */
        const bool by_free = allocation->stack_of_free && allocation->stack != PLIM_NONE;
        const uint64_t key = key_of(grouper, allocation->stack, by_free ? BEFORE_BY_FREE : BEFORE);
        if (ends_after(allocation->ended_by, moment) &&
            !add(grouper, key, allocation->requested_bytes)) {
            return false;
        }
    }
    return true;
}

static bool add_recorded(plim_grouper *grouper, const plim_device_history *device,
                         const plim_start *start, int64_t moment)
{
    const plim_events *const events = &device->events;
    for (int64_t i = 0; i <= moment; i++) {
        if (events->action[i] == PLIM_ALLOC && ends_after(start->lifetimes.partner[i], moment) &&
            !add(grouper, key_of(grouper, events->stack[i], RECORDED), events->size[i])) {
            return false;
        }
    }
    return true;
}

/* --- ordering and telling --- */

static int compare_sums(const void *left, const void *right)
{
    const plim_group_sum *const a = left;
    const plim_group_sum *const b = right;
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    if (a->count != b->count) {
        return a->count > b->count ? -1 : 1;
    }
    return (a->key > b->key) - (a->key < b->key);
}

static plim_frame_kind kind_of_frame(plim_grouper *grouper, uint32_t frame)
{
    if (grouper->kinds[frame] == 0) {
        const plim_frame *const row = plim_history_frame(grouper->history, frame);
        const plim_frame_kind kind =
            plim_frame_kind_of(plim_history_string(grouper->history, row->filename, NULL),
                               plim_history_string(grouper->history, row->name, NULL), row->line);
        grouper->kinds[frame] = (uint8_t)(kind + 1);
    }
    return (plim_frame_kind)(grouper->kinds[frame] - 1);
}

static uint32_t find_user_frame(plim_grouper *grouper, uint32_t stack)
{
    const plim_stack frames = plim_history_stack(grouper->history, stack);
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        if (kind_of_frame(grouper, frames.frames[i]) == PLIM_FRAME_USER) {
            return i;
        }
    }
    return PLIM_NONE;
}

static plim_stack_group tell(plim_grouper *grouper, const plim_group_sum *sum)
{
    const uint64_t row = sum->key / KIND_COUNT;
    const uint64_t kind = sum->key % KIND_COUNT;
    const uint32_t stack =
        row == plim_history_stack_count(grouper->history) ? PLIM_NONE : (uint32_t)row;
    return (plim_stack_group){ .bytes = plim_total_bytes(sum->bytes),
                               .count = sum->count,
                               .stack = stack,
                               .user_frame = find_user_frame(grouper, stack),
                               .before_recording = kind != RECORDED,
                               .stack_of_free = kind == BEFORE_BY_FREE };
}

static void forget_sums(plim_grouper *grouper)
{
    for (size_t i = 0; i < grouper->sums.count; i++) {
        grouper->group_of[grouper->sums.items[i].key] = 0;
    }
    grouper->sums.count = 0;
}

plim_status plim_group_moment(plim_grouper *grouper, const plim_device_history *device,
                              const plim_start *start, plim_arena *arena, plim_moment *moment,
                              plim_error *err)
{
    const bool added = add_start(grouper, start, moment->event) &&
                       add_recorded(grouper, device, start, moment->event);
    const size_t count = grouper->sums.count;
    plim_stack_group *groups = NULL;
    if (added && count > 0) {
        groups = plim_arena_alloc(arena, count * sizeof *groups);
    }
    if (groups != NULL) {
        qsort(grouper->sums.items, count, sizeof *grouper->sums.items, compare_sums);
        for (size_t i = 0; i < count; i++) {
            groups[i] = tell(grouper, &grouper->sums.items[i]);
        }
        moment->groups = groups;
        moment->group_count = count;
    }
    forget_sums(grouper);
    if (!added || (count > 0 && groups == NULL)) {
        return plim_fail_memory(err, "grouping allocations by stack");
    }
    return PLIM_OK;
}
