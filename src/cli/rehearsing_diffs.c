/*
 * rehearsing_diffs.c - see rehearsing_diffs.h.
 */
#include "cli/rehearsing_diffs.h"

#include "base/error.h"

#include "plimsoll/load.h"

#include <stdlib.h>

/* The next process that left a history, from an index on; NULL: there is no more. */
static const plim_rehearsed_process *next_recorded(const plim_rehearsal_outcome *outcome,
                                                   size_t *index)
{
    while (*index < outcome->process_count) {
        const plim_rehearsed_process *process = &outcome->processes[(*index)++];
        if (process->snapshot_path != NULL) {
            return process;
        }
    }
    return NULL;
}

static plim_status compare(const plim_rehearsed_process *before,
                           const plim_rehearsed_process *after, const char *before_name,
                           const char *after_name, plim_diff_parts *ret, plim_error *err)
{
    PLIM_TRY(plim_history_load(before->snapshot_path, NULL, &ret->histories[0], err));
    PLIM_TRY(plim_history_load(after->snapshot_path, NULL, &ret->histories[1], err));
    return plim_diff_parts_compare(
        (plim_diffed_side){ .name = before_name, .history = ret->histories[0] },
        (plim_diffed_side){ .name = after_name, .history = ret->histories[1] }, NULL, ret, err);
}

plim_status plim_rehearsing_diffs_make(const plim_rehearsed *before, const plim_rehearsed *after,
                                       const char *before_name, const char *after_name,
                                       plim_rehearsing_diffs *ret, plim_error *err)
{
    const size_t most = before->outcome->process_count;
    *ret = (plim_rehearsing_diffs){
        .items = calloc(most + 1, sizeof(*ret->items)),
        .parts = calloc(most + 1, sizeof(*ret->parts)),
    };
    if (ret->items == NULL || ret->parts == NULL) {
        return plim_fail_memory(err, "comparing histories");
    }
    size_t left = 0;
    size_t right = 0;
    const plim_rehearsed_process *one = next_recorded(before->outcome, &left);
    const plim_rehearsed_process *other = next_recorded(after->outcome, &right);
    while (one != NULL && other != NULL) { /* both are in the order of ranks */
        const bool is_pair = one->rank == other->rank;
        const bool is_left_first = one->rank < other->rank;
        if (is_pair) {
            plim_diff_parts *const parts = &ret->parts[ret->count];
            ret->items[ret->count++] =
                (plim_rehearsed_diff){ .rank = one->rank, .diffed = &parts->diffed };
            PLIM_TRY(compare(one, other, before_name, after_name, parts, err));
        }
        one = is_pair || is_left_first ? next_recorded(before->outcome, &left) : one;
        other = is_pair || !is_left_first ? next_recorded(after->outcome, &right) : other;
    }
    return PLIM_OK;
}

void plim_rehearsing_diffs_deinit(plim_rehearsing_diffs *diffs)
{
    for (size_t i = 0; i < diffs->count; i++) {
        plim_diff_parts_deinit(&diffs->parts[i]);
    }
    free(diffs->items);
    free(diffs->parts);
    *diffs = (plim_rehearsing_diffs){ 0 };
}
