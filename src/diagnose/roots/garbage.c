/*
 * garbage.c - memory that only Python's collector would give back, as the search for holders found
 * it when a request failed.
 */
#include "diagnose/case/case.h"

#include "base/error.h"
#include "diagnose/keepers/moment.h"
#include "diagnose/roots/waste.h"

#define WORTH_SHARE       0.1 /* of what was live: less is no cause */
#define FOUND_CONFIDENCE  0.9 /* a search from the roots, which C code may escape */
#define COVERS_CONFIDENCE 0.95

typedef struct garbage_search {
    PLIM_VEC(uint64_t) ids; /* in order of birth */
    uint64_t bytes;
    uint64_t live_bytes;
} garbage_search;

static bool is_found_already(const plim_case *one)
{
    for (size_t i = 0; i < one->findings.count; i++) {
        if (one->findings.items[i].cause == PLIM_CAUSE_REFERENCE_CYCLE) {
            return true;
        }
    }
    return false;
}

static bool gather(const plim_case *one, garbage_search *at)
{
    plim_live live = plim_timeline_live(&one->view.timeline, plim_holders_moment(one), false);
    plim_allocation allocation;
    while (plim_live_next(&live, &allocation)) {
        const plim_holder *const holder = plim_holder_of(one, &allocation);
        at->live_bytes += allocation.requested_bytes;
        if (holder != NULL && holder->kind == PLIM_HOLDER_GARBAGE) {
            at->bytes += allocation.requested_bytes;
            if (!PLIM_VEC_PUSH(one->mem, &at->ids, allocation.id)) {
                return false;
            }
        }
    }
    return true;
}

/* It decides where one collection would have given the request its bytes. */
static bool report(plim_case *one, const garbage_search *at, plim_error *err)
{
    const plim_oom_moment *const failed = &one->facts->ooms[one->facts->oom_count - 1];
    const bool decides = at->bytes >= failed->requested_bytes;
    plim_diagnosis_finding *const finding = plim_add_waste(
        one, PLIM_CAUSE_REFERENCE_CYCLE, decides ? COVERS_CONFIDENCE : FOUND_CONFIDENCE, at->bytes);
    if (finding == NULL ||
        plim_waste_root(one, at->ids.items, at->ids.count, finding, err) != PLIM_OK) {
        return false;
    }
    if (decides) {
        finding->kind = PLIM_VERDICT_LEAK;
        finding->decides = true;
        finding->finding.severity = PLIM_SEVERITY_FAILURE;
    }
    const plim_evidence_line line = {
        .id = "garbage",
        .text = "{} in {} allocations of the {} that were live had no holder but each other: one "
                "collection of Python's would give them back; {} were requested",
        .figures = { plim_say_bytes("garbage_bytes", at->bytes),
                     plim_say_amount("garbage_allocations", at->ids.count),
                     plim_say_bytes("live_bytes", at->live_bytes),
                     plim_say_bytes("requested_bytes", failed->requested_bytes) },
        .figure_count = 4,
    };
    return plim_case_name_cause(one, finding, PLIM_CAUSE_REFERENCE_CYCLE) &&
           plim_case_say(one, finding, &line);
}

plim_status plim_find_garbage(plim_case *one, plim_error *err)
{
    if (one->options->holders == NULL || one->facts->oom_count == 0 || is_found_already(one)) {
        return PLIM_OK;
    }
    garbage_search at = { .bytes = 0 };
    bool is_done = gather(one, &at);
    if (is_done && at.bytes > 0 && (double)at.bytes >= WORTH_SHARE * (double)at.live_bytes) {
        is_done = report(one, &at, err);
    }
    PLIM_VEC_FREE(one->mem, &at.ids);
    return is_done ? PLIM_OK : plim_fail_memory(err, "finding what waits for a collection");
}
