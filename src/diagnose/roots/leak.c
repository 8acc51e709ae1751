/*
 * leak.c - the root and the cause of a leak. See leak.h.
 */
#include "diagnose/roots/leak.h"

#include "base/error.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* Most bytes first; then the stack that the recording has first. */
static int compare_members(const void *left, const void *right)
{
    const plim_finding_member *const a = left;
    const plim_finding_member *const b = right;
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    return a->place.stack < b->place.stack ? -1 : a->place.stack > b->place.stack;
}

/* The ids by stack, in the arena. */
static plim_finding_member *group_members(plim_case *one, const plim_leak *leak, size_t *ret_count)
{
    plim_finding_member *const members =
        plim_arena_alloc(one->arena, leak->id_count * sizeof *members);
    plim_map rows;
    plim_map_init(&rows, one->mem);
    size_t count = 0;
    bool is_done = members != NULL;
    for (size_t i = 0; is_done && i < leak->id_count; i++) {
        const plim_allocation kept = plim_timeline_allocation(&one->timeline, leak->ids[i]);
        uint64_t row = plim_map_get(&rows, kept.stack);
        if (row == PLIM_MAP_ABSENT) {
            row = count;
            is_done = plim_map_put(&rows, kept.stack, row);
            if (is_done) {
                members[count++] =
                    (plim_finding_member){ .place = plim_case_place(one, kept.stack) };
            }
        }
        if (is_done) {
            members[row].bytes += kept.requested_bytes;
            members[row].count++;
        }
    }
    plim_map_deinit(&rows);
    *ret_count = count;
    if (is_done && count > 1) {
        qsort(members, count, sizeof *members, compare_members);
    }
    return is_done ? members : NULL;
}

plim_status plim_leak_explain(plim_case *one, const plim_leak *leak,
                              plim_diagnosis_finding *finding, plim_error *err)
{
    if (leak->id_count == 0) {
        return PLIM_OK;
    }
    size_t count = 0;
    const plim_finding_member *const members = group_members(one, leak, &count);
    if (members == NULL) {
        return plim_fail_memory(err, "finding the root of a leak");
    }
    finding->members = members;
    finding->member_count = count;
    finding->root = members[0].place;
    finding->finding.subject.kind = PLIM_SUBJECT_STACK;
    finding->finding.subject.stack = members[0].place.stack;
    return PLIM_OK;
}
