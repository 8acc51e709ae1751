/*
 * leak.c - the root and the cause of a leak. See leak.h.
 *
 * First what is kept is sorted by stack and by round (kept.h). Then the causes are tried in the
 * order of `judge()`, the ones with the surest signature first; docs/design/diagnose.md argues
 * each. At last the objects that hold it are named, where they are known: they prove more.
 */
#include "diagnose/roots/leak.h"

#include "base/error.h"
#include "diagnose/keepers/keepers.h"
#include "diagnose/roots/causes.h"

#include <stdlib.h>

/* Events looked at around what is kept, for each leak. */
#define LOOK_EVENTS 2000000u

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

static bool list_members(plim_case *one, const plim_leak_content *kept,
                         plim_diagnosis_finding *finding)
{
    plim_finding_member *const members =
        plim_arena_alloc(one->arena, kept->stack_count * sizeof *members);
    if (members == NULL) {
        return false;
    }
    for (size_t i = 0; i < kept->stack_count; i++) {
        const plim_kept_stack *const row = &kept->stacks[i];
        members[i] = (plim_finding_member){ .place = plim_line_place(one, row->stack, row->line),
                                            .bytes = row->bytes,
                                            .count = row->count };
    }
    if (kept->stack_count > 1) {
        qsort(members, kept->stack_count, sizeof *members, compare_members);
    }
    finding->members = members;
    finding->member_count = kept->stack_count;
    return true;
}

/* Explains, or only locates. */
static plim_status answer(plim_case *one, const plim_leak *leak, plim_diagnosis_finding *finding,
                          bool with_cause, plim_error *err)
{
    if (leak->id_count == 0) {
        return PLIM_OK;
    }
    plim_look look = { .left = LOOK_EVENTS };
    plim_leak_content kept = { 0 };
    plim_root_question asked = {
        .one = one, .leak = leak, .kept = &kept, .look = &look, .finding = finding
    };
    bool is_done = plim_kept_find(one, leak, &look, &kept) && list_members(one, &kept, finding);
    if (is_done && with_cause) {
        is_done = plim_judge_cause(&asked);
    } else if (is_done) {
        plim_root_largest(&asked);
    }
    plim_kept_deinit(&kept);
    finding->finding.subject.kind = PLIM_SUBJECT_STACK;
    finding->finding.subject.stack = finding->root.stack;
    return is_done ? PLIM_OK : plim_fail_memory(err, "finding the root of a leak");
}

plim_status plim_leak_explain(plim_case *one, const plim_leak *leak,
                              plim_diagnosis_finding *finding, plim_error *err)
{
    const size_t judged = finding->evidence_count;
    PLIM_TRY(answer(one, leak, finding, true, err));
    return plim_keepers_name(one, leak->ids, leak->id_count, judged, finding, err);
}

plim_status plim_leak_locate(plim_case *one, const plim_leak *leak, plim_diagnosis_finding *finding,
                             plim_error *err)
{
    return answer(one, leak, finding, false, err);
}
