/*
 * live_set.c - one step of the running totals for each action.
 */
#include "diagnose/live_set.h"

#include "base/assert.h"

void plim_live_set_init(plim_live_set *set, const plim_device_history *device,
                        const plim_start *start, const plim_rounding *rounding)
{
    *set = (plim_live_set){ .device = device,
                            .start = start,
                            .rounding = rounding,
                            .now = { .reserved = start->undone.reserved,
                                     .live_count = start->allocations.count },
                            .shortfalls_left = start->undone.shortfalls.count };
    for (size_t i = 0; i < start->allocations.count; i++) {
        const plim_start_allocation *const allocation = &start->allocations.items[i];
        set->now.requested += allocation->requested_bytes;
        set->now.allocated += allocation->has_block
                                  ? allocation->block_bytes
                                  : plim_round(rounding, allocation->requested_bytes);
        set->now.guessed_count += !allocation->has_block;
    }
    for (size_t i = 0; i < start->pending.count; i++) {
        const plim_start_pending *const pending = &start->pending.items[i];
        set->now.pending +=
            pending->has_block ? pending->bytes : plim_round(rounding, pending->bytes);
        set->now.guessed_count += !pending->has_block;
    }
}

/* The block an alloc, or the end of one, is about. */
static uint64_t block_bytes(plim_live_set *set, uint32_t event, uint64_t requested, bool *ret_known)
{
    *ret_known =
        set->known < set->start->known.count && set->start->known.items[set->known].event == event;
    if (*ret_known) {
        return set->start->known.items[set->known++].bytes;
    }
    return plim_round(set->rounding, requested);
}

/* The bytes that a free_requested gives back. */
static uint64_t ended_bytes(const plim_live_set *set, uint32_t end)
{
    const uint32_t alloc = set->start->lifetimes.partner[end];
    return set->device->events.bytes[alloc != PLIM_NONE ? alloc : end];
}

static void complete(plim_live_set *set, uint64_t requested)
{
    /* No completed block stands at the end, so none of their sizes is known. */
    set->now.pending -= plim_round(set->rounding, requested);
    set->now.guessed_count--;
}

static void take_displaced(plim_live_set *set, uint32_t displaced)
{
    if (set->device->events.action[displaced] == PLIM_ALLOC) {
        const uint64_t requested = set->device->events.bytes[displaced];
        set->now.requested -= requested;
        set->now.allocated -= plim_round(set->rounding, requested);
        set->now.live_count--;
        set->now.guessed_count--;
    } else {
        complete(set, ended_bytes(set, displaced));
    }
}

static void take_alloc(plim_live_set *set, uint32_t event)
{
    const plim_lifetimes *const lifetimes = &set->start->lifetimes;
    if (set->displacement < lifetimes->displacements.count &&
        lifetimes->displacements.items[set->displacement].event == event) {
        take_displaced(set, lifetimes->displacements.items[set->displacement++].displaced);
    }
    const uint64_t requested = set->device->events.bytes[event];
    bool is_known = false;
    set->now.allocated += block_bytes(set, event, requested, &is_known);
    set->now.requested += requested;
    set->now.live_count++;
    set->now.guessed_count += !is_known;
}

static void take_end(plim_live_set *set, uint32_t event)
{
    const plim_lifetimes *const lifetimes = &set->start->lifetimes;
    const uint32_t alloc = lifetimes->partner[event];
    uint64_t requested = 0;
    if (alloc != PLIM_NONE) {
        requested = set->device->events.bytes[alloc];
    } else if (set->start_allocation < lifetimes->start_frees.count &&
               lifetimes->start_frees.items[set->start_allocation] == event) {
        requested = set->start->allocations.items[set->start_allocation++].requested_bytes;
    } else {
        return; /* a double free */
    }
    bool is_known = false;
    const uint64_t block = block_bytes(set, event, requested, &is_known);
    PLIM_ASSERT_DEBUG(set->now.live_count > 0);
    set->now.requested -= requested;
    set->now.allocated -= block;
    set->now.live_count--;
    /* Where nothing is ever completed, only a block that is pending at the end stays. */
    if (lifetimes->halves.requested && (lifetimes->halves.completed || is_known)) {
        set->now.pending += block;
    } else {
        set->now.guessed_count -= !is_known;
    }
}

static void take_completion(plim_live_set *set, uint32_t event)
{
    const plim_start *const start = set->start;
    const uint32_t request = start->lifetimes.partner[event];
    if (request != PLIM_NONE) {
        complete(set, ended_bytes(set, request));
    } else if (set->start_pending < start->pending.count &&
               start->pending.items[set->start_pending].completed_by == event) {
        complete(set, start->pending.items[set->start_pending++].bytes);
    }
}

static void take_segment(plim_live_set *set, uint32_t event, bool is_more)
{
    uint64_t bytes = set->device->events.bytes[event];
    if (!is_more) {
        set->now.reserved = plim_total_less(set->now.reserved, bytes);
        return;
    }
    const size_t left = set->shortfalls_left;
    if (left > 0 && set->start->undone.shortfalls.items[left - 1].event == event) {
        bytes -= set->start->undone.shortfalls.items[left - 1].bytes;
        set->shortfalls_left--;
    }
    set->now.reserved += bytes;
}

void plim_live_set_take(plim_live_set *set, uint32_t event)
{
    const uint8_t action = set->device->events.action[event];
    switch (action) {
    case PLIM_ALLOC:
        take_alloc(set, event);
        break;
    case PLIM_FREE_REQUESTED:
    case PLIM_FREE_COMPLETED:
        if (plim_ends_allocation(set->start->lifetimes.halves, action)) {
            take_end(set, event);
        } else {
            take_completion(set, event);
        }
        break;
    case PLIM_SEGMENT_ALLOC:
    case PLIM_SEGMENT_MAP:
        take_segment(set, event, true);
        break;
    case PLIM_SEGMENT_FREE:
    case PLIM_SEGMENT_UNMAP:
        take_segment(set, event, false);
        break;
    default:
        break; /* changes no memory */
    }
}
