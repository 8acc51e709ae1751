/*
 * standing.c - what stood before the first op: allocations that were live, and frees that waited.
 */
#include "base/error.h"
#include "base/memory.h"
#include "replay/taking.h"

#include <stdlib.h>

static uint32_t event_of(int64_t moment)
{
    return moment == PLIM_NEVER || moment < 0 ? PLIM_NONE : (uint32_t)moment;
}

static bool defer(plim_taking *taking, uint32_t request, int64_t completed)
{
    const plim_deferral row = { .request = request, .completed = event_of(completed) };
    return PLIM_VEC_PUSH(taking->program->mem, &taking->deferrals.rows, row);
}

static int compare_completed(const void *a, const void *b)
{
    const uint32_t left = ((const plim_deferral *)a)->completed;
    const uint32_t right = ((const plim_deferral *)b)->completed;
    return (left > right) - (left < right);
}

/* Something that stands; what is freed already waits, and gets its slot when all are known. */
static bool add(plim_taking *taking, const plim_allocation *one)
{
    const bool waits = one->freed < (int64_t)taking->program->from_event;
    plim_standing row = {
        .addr = one->addr,
        .requested_bytes = one->requested_bytes,
        .block_bytes = one->block_bytes,
        .is_estimate = one->block_slack_bytes > 0,
        .scaled_bytes = waits ? one->requested_bytes : plim_taking_bytes(taking, one->id),
        .stream = one->stream,
        .stack = waits ? PLIM_NONE : one->stack,
        .event = event_of(one->born != PLIM_AT_START ? one->born : one->freed),
        .deferral = waits ? (uint32_t)taking->deferrals.rows.count : PLIM_NONE,
    };
    if (waits && !defer(taking, PLIM_NONE, one->completed)) {
        return false;
    }
    if (!waits && !plim_taking_slot(taking, &row.slot)) {
        return false;
    }
    taking->slots[one->id] = row.slot;
    return PLIM_VEC_PUSH(taking->program->mem, &taking->standing, row);
}

static bool add_all(plim_taking *taking)
{
    plim_live live =
        plim_timeline_live(&taking->timeline, (int64_t)taking->program->from_event - 1, true);
    plim_allocation one;
    while (plim_live_next(&live, &one)) {
        if (!add(taking, &one)) {
            return false;
        }
    }
    return true;
}

/* Frees of what is replayed whose request and completion are apart. */
static bool defer_requests(plim_taking *taking)
{
    const plim_free_halves halves = plim_timeline_halves(&taking->timeline);
    const plim_events *events = &taking->program->device->events;
    if (!halves.requested || !halves.completed) {
        return true; /* nothing tells when they completed */
    }
    for (uint64_t i = taking->program->from_event; i < taking->program->to_event; i++) {
        if (events->action[i] != PLIM_FREE_REQUESTED) {
            continue;
        }
        const int64_t completed = plim_timeline_completed(&taking->timeline, (uint32_t)i);
        if (completed != (int64_t)i + 1 &&
            plim_timeline_about(&taking->timeline, i) != PLIM_NO_ALLOCATION &&
            !defer(taking, (uint32_t)i, completed)) {
            return false;
        }
    }
    return true;
}

/* Standing rows name deferrals by row; sorting moves these. */
static bool sort_start_deferrals(plim_taking *taking)
{
    plim_deferrals *deferrals = &taking->deferrals;
    for (size_t i = 0; i < deferrals->of_start; i++) {
        deferrals->rows.items[i].entry = (uint32_t)i; /* remembers where it was */
    }
    if (deferrals->of_start > 1) {
        qsort(deferrals->rows.items, deferrals->of_start, sizeof *deferrals->rows.items,
              compare_completed);
    }
    uint32_t *moved = plim_mem_alloc(taking->program->mem, deferrals->of_start + 1, sizeof *moved);
    if (moved == NULL) {
        return false;
    }
    for (size_t i = 0; i < deferrals->of_start; i++) {
        moved[deferrals->rows.items[i].entry] = (uint32_t)i;
    }
    for (size_t i = 0; i < taking->standing.count; i++) {
        plim_standing *row = &taking->standing.items[i];
        row->deferral = row->deferral != PLIM_NONE ? moved[row->deferral] : PLIM_NONE;
    }
    plim_mem_free(taking->program->mem, moved, deferrals->of_start + 1, sizeof *moved);
    return true;
}

static bool gather(plim_taking *taking)
{
    if (!add_all(taking)) {
        return false;
    }
    taking->deferrals.of_start = taking->deferrals.rows.count;
    if (!sort_start_deferrals(taking) || !defer_requests(taking) ||
        !plim_deferrals_deal(&taking->deferrals)) {
        return false;
    }
    for (size_t i = 0; i < taking->standing.count; i++) {
        plim_standing *row = &taking->standing.items[i];
        if (row->deferral != PLIM_NONE && !plim_taking_slot(taking, &row->slot)) {
            return false;
        }
    }
    return true;
}

plim_status plim_taking_gather(plim_taking *taking, plim_error *err)
{
    return gather(taking) ? PLIM_OK : plim_fail_memory(err, "gathering what stood at the start");
}
