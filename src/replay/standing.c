/*
 * standing.c - what stood before the first op: allocations that were live, and frees that waited.
 *
 * Before the first event of the recording that is what history/start.h worked out. Before a later
 * one, events up to there are followed: an allocation stands if what ends it comes later.
 */
#include "base/error.h"
#include "base/memory.h"
#include "replay/taking.h"

#include <stdlib.h>

static bool push(plim_taking *taking, const plim_standing *row)
{
    return PLIM_VEC_PUSH(taking->program->mem, &taking->standing, *row);
}

/* The bytes of the block an event is about, or 0: from the blocks at the end. */
static uint64_t known_block_bytes(const plim_start *start, uint32_t event)
{
    size_t low = 0;
    size_t high = start->known.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (start->known.items[middle].alloc < event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < start->known.count && start->known.items[low].alloc == event
               ? start->known.items[low].bytes
               : 0;
}

/* --- allocations --- */

static bool add_from_start(plim_taking *taking)
{
    const plim_events *events = &taking->program->device->events;
    const plim_start *start = &taking->start;
    for (size_t i = 0; i < start->allocations.count; i++) {
        const plim_start_allocation *allocation = &start->allocations.items[i];
        const bool is_ended = allocation->ended_by != PLIM_NONE;
        if (is_ended && allocation->ended_by < taking->program->from_event) {
            continue;
        }
        const plim_standing row = {
            .addr = allocation->addr,
            .requested_bytes = allocation->requested_bytes,
            .block_bytes = allocation->has_block ? allocation->block_bytes : 0,
            .scaled_bytes = plim_taking_start_bytes(taking, i),
            .stream = is_ended ? events->stream[allocation->ended_by] : PLIM_NONE,
            .stack = allocation->stack,
            .event = allocation->ended_by,
            .deferral = PLIM_NONE,
        };
        if (!push(taking, &row) ||
            !plim_taking_slot(taking, &taking->standing.items[taking->standing.count - 1].slot)) {
            return false;
        }
        taking->start_slots[i] = taking->standing.items[taking->standing.count - 1].slot;
    }
    return true;
}

static bool add_from_events(plim_taking *taking)
{
    const plim_events *events = &taking->program->device->events;
    const uint64_t from = taking->program->from_event;
    for (uint64_t i = 0; i < from; i++) {
        const uint32_t ended_by = taking->start.lifetimes.partner[i];
        if (events->action[i] != PLIM_ALLOC || (ended_by != PLIM_NONE && ended_by < from)) {
            continue;
        }
        const plim_standing row = { .addr = events->addr[i],
                                    .requested_bytes = events->bytes[i],
                                    .block_bytes = known_block_bytes(&taking->start, (uint32_t)i),
                                    .scaled_bytes = plim_taking_event_bytes(taking, i),
                                    .stream = events->stream[i],
                                    .stack = events->stack[i],
                                    .event = (uint32_t)i,
                                    .deferral = PLIM_NONE };
        if (!push(taking, &row) ||
            !plim_taking_slot(taking, &taking->standing.items[taking->standing.count - 1].slot)) {
            return false;
        }
        taking->slots[i] = taking->standing.items[taking->standing.count - 1].slot;
    }
    return true;
}

/* --- frees that wait --- */

static bool defer(plim_taking *taking, uint32_t request, uint32_t completed)
{
    const plim_deferral row = { .request = request, .completed = completed };
    return PLIM_VEC_PUSH(taking->program->mem, &taking->deferrals.rows, row);
}

static int compare_completed(const void *a, const void *b)
{
    const uint32_t left = ((const plim_deferral *)a)->completed;
    const uint32_t right = ((const plim_deferral *)b)->completed;
    return (left > right) - (left < right);
}

static bool defer_from_start(plim_taking *taking)
{
    const plim_start *start = &taking->start;
    for (size_t i = 0; i < start->pending.count; i++) {
        const plim_start_pending *pending = &start->pending.items[i];
        if (pending->completed_by < taking->program->from_event) {
            continue; /* PLIM_NONE is above any event */
        }
        const plim_standing row = { .addr = pending->addr,
                                    .requested_bytes = pending->requested_bytes,
                                    .block_bytes = pending->has_block ? pending->block_bytes : 0,
                                    .scaled_bytes = pending->requested_bytes,
                                    .stream = PLIM_NONE,
                                    .stack = PLIM_NONE,
                                    .event = PLIM_NONE,
                                    .deferral = (uint32_t)taking->deferrals.rows.count };
        if (!push(taking, &row) || !defer(taking, PLIM_NONE, pending->completed_by)) {
            return false;
        }
    }
    return true;
}

/* A free whose request and completion are apart, in what is replayed or across its beginning. */
static bool defer_pair(plim_taking *taking, uint32_t request, uint32_t completed)
{
    const plim_events *events = &taking->program->device->events;
    if (request >= taking->program->from_event) {
        return request >= taking->program->to_event || defer(taking, request, completed);
    }
    const plim_standing row = { .addr = events->addr[request],
                                .requested_bytes = events->bytes[request],
                                .block_bytes = known_block_bytes(&taking->start, request),
                                .scaled_bytes = events->bytes[request],
                                .stream = events->stream[request],
                                .stack = events->stack[request],
                                .event = request,
                                .deferral = (uint32_t)taking->deferrals.rows.count };
    return push(taking, &row) && defer(taking, PLIM_NONE, completed);
}

static bool is_request_of(const plim_taking *taking, uint32_t completed, uint32_t *ret_request)
{
    const plim_events *events = &taking->program->device->events;
    *ret_request = taking->start.lifetimes.partner[completed];
    return events->action[completed] == PLIM_FREE_COMPLETED && *ret_request != PLIM_NONE &&
           events->action[*ret_request] == PLIM_FREE_REQUESTED;
}

/* Requests by the event that completes them: `completions` gets one entry an event. */
static void match_completions(const plim_taking *taking, uint32_t *completions)
{
    const uint64_t count = taking->program->device->events.count;
    for (uint64_t i = 0; i < count; i++) {
        completions[i] = PLIM_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t request = PLIM_NONE;
        if (is_request_of(taking, i, &request)) {
            completions[request] = i;
        }
    }
    /* A free that nothing completes is done when its address is handed out again. */
    for (size_t i = 0; i < taking->start.lifetimes.displacements.count; i++) {
        const plim_displacement row = taking->start.lifetimes.displacements.items[i];
        if (taking->program->device->events.action[row.displaced] == PLIM_FREE_REQUESTED) {
            completions[row.displaced] = row.event;
        }
    }
}

/* Whether a pair is in [from, to) of what is replayed, or reaches into it. */
static bool is_deferred(const plim_taking *taking, uint32_t request, uint32_t completed)
{
    const plim_events *events = &taking->program->device->events;
    if (completed != PLIM_NONE && completed < taking->program->from_event) {
        return false;
    }
    if (request < taking->program->from_event) {
        return true;
    }
    return completed != request + 1 && events->action[request] == PLIM_FREE_REQUESTED;
}

static bool defer_requests(plim_taking *taking, bool is_before)
{
    const plim_lifetimes *lifetimes = &taking->start.lifetimes;
    const plim_events *events = &taking->program->device->events;
    if (!lifetimes->halves.requested || !lifetimes->halves.completed) {
        return true; /* nothing tells when they completed */
    }
    const uint64_t from = taking->program->from_event;
    const uint64_t first = is_before ? 0 : from;
    const uint64_t last = is_before ? from : taking->program->to_event;
    for (uint64_t i = first; i < last; i++) {
        if (events->action[i] != PLIM_FREE_REQUESTED) {
            continue;
        }
        const bool is_double =
            lifetimes->partner[i] == PLIM_NONE && taking->completions[i] == PLIM_NONE;
        if (!is_double && is_deferred(taking, (uint32_t)i, taking->completions[i]) &&
            !defer_pair(taking, (uint32_t)i, taking->completions[i])) {
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
    if (!add_from_start(taking) || !add_from_events(taking) || !defer_from_start(taking) ||
        !defer_requests(taking, true)) {
        return false;
    }
    taking->deferrals.of_start = taking->deferrals.rows.count;
    if (!sort_start_deferrals(taking) || !defer_requests(taking, false) ||
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
    const uint64_t count = taking->program->device->events.count;
    taking->completions =
        plim_mem_alloc(taking->program->mem, (size_t)count + 1, sizeof *taking->completions);
    bool done = taking->completions != NULL;
    if (done) {
        match_completions(taking, taking->completions);
        done = gather(taking);
    }
    plim_mem_free(taking->program->mem, taking->completions, (size_t)count + 1,
                  sizeof *taking->completions);
    taking->completions = NULL;
    return done ? PLIM_OK : plim_fail_memory(err, "gathering what stood at the start");
}
