/*
 * never_freed.c - allocations live after the last event, without those of the start: no second
 * walk.
 */
#include "inspect/never_freed.h"

#include "base/error.h"
#include "base/numbers.h"

#include <stdlib.h>

static int compare_groups(const void *left, const void *right)
{
    const plim_stack_group *const a = left;
    const plim_stack_group *const b = right;
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    if (a->count != b->count) {
        return a->count > b->count ? -1 : 1;
    }
    return (a->stack > b->stack) - (a->stack < b->stack);
}

/* A group without what is older than the recording. */
static plim_stack_group recorded_part(const plim_stack_group *group)
{
    plim_stack_group part = *group;
    part.bytes = plim_minus(group->bytes, group->before_recording_bytes);
    part.count = group->count - group->before_recording_count;
    part.before_recording_bytes = part.before_recording_count = part.stack_of_free_count = 0;
    return part;
}

plim_status plim_never_freed_of(const plim_moment *end, plim_arena *arena,
                                plim_never_freed *ret_never_freed, plim_error *err)
{
    *ret_never_freed = (plim_never_freed){ 0 };
    plim_never_freed all = { 0 };
    if (end->group_count == 0) {
        return PLIM_OK;
    }
    plim_stack_group *const groups = plim_arena_alloc(arena, end->group_count * sizeof *groups);
    if (groups == NULL) {
        return plim_fail_memory(err, "grouping what was never freed");
    }
    for (size_t i = 0; i < end->group_count; i++) {
        const plim_stack_group *const group = &end->groups[i];
        all.before_bytes = plim_plus(all.before_bytes, group->before_recording_bytes);
        all.before_count += group->before_recording_count;
        if (group->count > group->before_recording_count) {
            groups[all.group_count] = recorded_part(group);
            all.bytes = plim_plus(all.bytes, groups[all.group_count].bytes);
            all.count += groups[all.group_count++].count;
        }
    }
    if (all.group_count > 0) {
        qsort(groups, all.group_count, sizeof *groups, compare_groups);
        all.groups = groups;
    }
    *ret_never_freed = all;
    return PLIM_OK;
}
