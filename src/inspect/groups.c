/*
 * groups.c - live allocations at a moment, added up by stack.
 */
#include "inspect/groups.h"

#include "base/error.h"
#include "stacks/frames.h"

#include <stdlib.h>

/* The row of a stack in the table: 0, 1, 2, … and last that of allocations without one. */
static uint64_t row_of(const plim_grouper *grouper, uint32_t stack)
{
    return stack == PLIM_NONE ? plim_history_stack_count(grouper->history) : stack;
}

static uint64_t row_count(const plim_history *history)
{
    return (uint64_t)plim_history_stack_count(history) + 1;
}

plim_status plim_grouper_init(plim_grouper *grouper, const plim_history *history,
                              const plim_mem *mem, plim_error *err)
{
    *grouper = (plim_grouper){ .history = history, .mem = mem };
    const uint32_t frames = plim_history_frame_count(history);
    grouper->group_of = plim_mem_alloc_zeroed(mem, row_count(history), sizeof *grouper->group_of);
    if (frames > 0) {
        grouper->owners = plim_mem_alloc_zeroed(mem, frames, sizeof *grouper->owners);
    }
    if (grouper->group_of == NULL || (frames > 0 && grouper->owners == NULL)) {
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
    plim_mem_free(grouper->mem, grouper->group_of, row_count(grouper->history),
                  sizeof *grouper->group_of);
    plim_mem_free(grouper->mem, grouper->owners, plim_history_frame_count(grouper->history),
                  sizeof *grouper->owners);
    PLIM_VEC_FREE(grouper->mem, &grouper->sums);
    *grouper = (plim_grouper){ 0 };
}

/* --- adding up --- */

/* The sum of a stack, to be added to until the next call; NULL when there is no memory. */
static plim_group_sum *sum_of(plim_grouper *grouper, uint32_t stack)
{
    uint32_t *const group = &grouper->group_of[row_of(grouper, stack)];
    if (*group == 0) {
        const plim_group_sum fresh = { .stack = stack,
                                       .first_born = PLIM_AT_START,
                                       .last_born = PLIM_AT_START };
        if (!PLIM_VEC_PUSH(grouper->mem, &grouper->sums, fresh)) {
            return NULL;
        }
        *group = (uint32_t)grouper->sums.count;
    }
    return &grouper->sums.items[*group - 1];
}

void plim_group_add(plim_grouper *grouper, const plim_allocation *one)
{
    plim_group_sum *const sum = sum_of(grouper, one->stack);
    if (sum == NULL) {
        grouper->is_short = true;
        return;
    }
    sum->bytes += one->requested_bytes;
    sum->count++;
    if (one->is_from_before) {
        sum->before_bytes += one->requested_bytes;
        sum->before_count++;
    } else {
        const bool is_first = sum->first_born == PLIM_AT_START || one->born < sum->first_born;
        sum->first_born = is_first ? one->born : sum->first_born;
        sum->last_born = one->born > sum->last_born ? one->born : sum->last_born;
    }
    /* "The stack of its free" says nothing where there is no stack. */
    sum->by_free_count += one->is_stack_of_free && one->stack != PLIM_NONE;
}

/* --- ordering and output --- */

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
    return (a->stack > b->stack) - (a->stack < b->stack); /* PLIM_NONE is the last */
}

plim_frame_owner plim_group_owner(plim_grouper *grouper, uint32_t frame)
{
    if (grouper->owners[frame] == 0) {
        const plim_frame *const row = plim_history_frame(grouper->history, frame);
        const plim_frame_owner owner =
            plim_frame_owner_of(plim_history_string(grouper->history, row->filename, NULL),
                                plim_history_string(grouper->history, row->name, NULL), row->line);
        grouper->owners[frame] = (uint8_t)(owner + 1);
    }
    return (plim_frame_owner)(grouper->owners[frame] - 1);
}

uint32_t plim_group_user_frame(plim_grouper *grouper, uint32_t stack)
{
    const plim_stack frames = plim_history_stack(grouper->history, stack);
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        if (plim_group_owner(grouper, frames.frames[i]) == PLIM_FRAME_USER) {
            return i;
        }
    }
    return PLIM_NONE;
}

static plim_stack_group group_of(plim_grouper *grouper, const plim_group_sum *sum)
{
    return (plim_stack_group){ .bytes = plim_total_bytes(sum->bytes),
                               .count = sum->count,
                               .stack = sum->stack,
                               .user_frame = plim_group_user_frame(grouper, sum->stack),
                               .before_recording_bytes = plim_total_bytes(sum->before_bytes),
                               .before_recording_count = sum->before_count,
                               .stack_of_free_count = sum->by_free_count,
                               .first_born = sum->first_born,
                               .last_born = sum->last_born };
}

static void forget_sums(plim_grouper *grouper)
{
    for (size_t i = 0; i < grouper->sums.count; i++) {
        grouper->group_of[row_of(grouper, grouper->sums.items[i].stack)] = 0;
    }
    grouper->sums.count = 0;
    grouper->is_short = false;
}

plim_status plim_group_take(plim_grouper *grouper, plim_arena *arena,
                            const plim_stack_group **ret_groups, size_t *ret_count, plim_error *err)
{
    const bool added = !grouper->is_short;
    const size_t count = grouper->sums.count;
    plim_stack_group *groups = NULL;
    if (added && count > 0) {
        groups = plim_arena_alloc(arena, count * sizeof *groups);
    }
    if (groups != NULL) {
        qsort(grouper->sums.items, count, sizeof *grouper->sums.items, compare_sums);
        for (size_t i = 0; i < count; i++) {
            groups[i] = group_of(grouper, &grouper->sums.items[i]);
        }
        *ret_groups = groups;
        *ret_count = count;
    }
    forget_sums(grouper);
    if (!added || (count > 0 && groups == NULL)) {
        return plim_fail_memory(err, "grouping allocations by stack");
    }
    return PLIM_OK;
}

/* --- a moment --- */

/* Sums over all stacks that are grouped. */
typedef struct moment_sums {
    plim_total bytes;
    uint64_t count;
    plim_total category_bytes[PLIM_CATEGORY_COUNT];
    uint64_t category_counts[PLIM_CATEGORY_COUNT];
} moment_sums;

static void add_live(plim_grouper *grouper, const plim_timeline *timeline, int64_t moment,
                     moment_sums *all)
{
    plim_live live = plim_timeline_live(timeline, moment, false);
    plim_allocation one;
    while (!grouper->is_short && plim_live_next(&live, &one)) {
        if (grouper->filter != NULL && !plim_stack_filter_passes(grouper->filter, one.stack)) {
            continue;
        }
        plim_group_add(grouper, &one);
        all->bytes += one.requested_bytes;
        all->count++;
        if (grouper->categories != NULL) {
            const uint8_t category = grouper->categories->of[one.id];
            all->category_bytes[category] += one.requested_bytes;
            all->category_counts[category]++;
        }
    }
}

static plim_status keep_categories(const moment_sums *all, plim_arena *arena, plim_moment *moment,
                                   plim_error *err)
{
    plim_category_total *const kept = plim_arena_alloc(arena, PLIM_CATEGORY_COUNT * sizeof *kept);
    if (kept == NULL) {
        return plim_fail_memory(err, "adding up categories");
    }
    for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        kept[i] = (plim_category_total){ .bytes = plim_total_bytes(all->category_bytes[i]),
                                         .count = all->category_counts[i] };
    }
    moment->categories = kept;
    return PLIM_OK;
}

plim_status plim_group_moment(plim_grouper *grouper, const plim_timeline *timeline,
                              plim_arena *arena, plim_moment *moment, plim_error *err)
{
    moment_sums all = { 0 };
    add_live(grouper, timeline, moment->event, &all);
    PLIM_TRY(plim_group_take(grouper, arena, &moment->groups, &moment->group_count, err));
    moment->grouped_bytes = plim_total_bytes(all.bytes);
    moment->grouped_count = all.count;
    moment->is_filtered = grouper->filter != NULL;
    return grouper->categories != NULL ? keep_categories(&all, arena, moment, err) : PLIM_OK;
}
