/*
 * start.c - the blocks at the end held against what the events left at their addresses.
 */
#include "history/start.h"

#include "base/assert.h"
#include "base/error.h"

#include <stdlib.h>

/* Pairs of stacks that must agree before we say that frees carry the stack of their alloc. */
#define STACK_PAIRS_MAX 65536

/* --- what the events alone show --- */

/* The allocations that the trace ends and does not begin. */
static bool add_start_frees(plim_start *start, const plim_events *events)
{
    const plim_event_list *const frees = &start->lifetimes.start_frees;
    for (size_t i = 0; i < frees->count; i++) {
        const uint32_t event = frees->items[i];
        const plim_start_allocation allocation = { .addr = events->addr[event],
                                                   .requested_bytes = events->bytes[event],
                                                   .stack = events->stack[event],
                                                   .ended_by = event,
                                                   .stack_of_free = true };
        if (!PLIM_VEC_PUSH(start->mem, &start->allocations, allocation)) {
            return false;
        }
    }
    return true;
}

/* The blocks that the trace completes the free of and does not request it. */
static bool add_start_completions(plim_start *start, const plim_events *events)
{
    const plim_event_list *const completions = &start->lifetimes.start_completions;
    for (size_t i = 0; i < completions->count; i++) {
        const uint32_t event = completions->items[i];
        const plim_start_pending pending = { .addr = events->addr[event],
                                             .requested_bytes = events->bytes[event],
                                             .completed_by = event };
        if (!PLIM_VEC_PUSH(start->mem, &start->pending, pending)) {
            return false;
        }
    }
    return true;
}

/*
 * Recordings of context "alloc" give a free the stack of its allocation, those of "all" one of
 * its own. Where all pairs agree it is the former.
 */
static bool frees_carry_stack_of_alloc(const plim_lifetimes *lifetimes, const plim_events *events)
{
    uint64_t pairs = 0;
    for (uint64_t i = 0; i < events->count && pairs < STACK_PAIRS_MAX; i++) {
        const uint32_t alloc = lifetimes->partner[i];
        if (!plim_ends_allocation(lifetimes->halves, events->action[i]) || alloc == PLIM_NONE ||
            events->stack[i] == PLIM_NONE || events->stack[alloc] == PLIM_NONE) {
            continue;
        }
        if (events->stack[i] != events->stack[alloc]) {
            return false;
        }
        pairs++;
    }
    return pairs > 0;
}

/* --- what the blocks add --- */

static bool push_known(plim_start *start, const plim_block *block, uint32_t alloc)
{
    const plim_known_block known = { .alloc = alloc, .bytes = block->bytes };
    return PLIM_VEC_PUSH(start->mem, &start->known, known);
}

static int compare_ended(const void *key, const void *row)
{
    const uint32_t event = *(const uint32_t *)key;
    const uint32_t other = ((const plim_start_allocation *)row)->ended_by;
    return (event > other) - (event < other);
}

/* A block pending at the end, whose free the trace requested at `event`. */
static bool know_pending(plim_start *start, const plim_block *block, uint32_t event)
{
    const uint32_t alloc = start->lifetimes.partner[event];
    if (!PLIM_VEC_PUSH(start->mem, &start->pending_requests, event)) {
        return false;
    }
    if (alloc != PLIM_NONE) {
        return push_known(start, block, alloc);
    }
    plim_start_allocation *const allocation =
        bsearch(&event, start->allocations.items, start->lifetimes.start_frees.count,
                sizeof *start->allocations.items, compare_ended);
    PLIM_ASSERT(allocation != NULL);
    if (!allocation->has_block || block->bytes < allocation->block_bytes) {
        allocation->block_bytes = block->bytes; /* of two at one address as in settle_known() */
    }
    allocation->has_block = true;
    return true;
}

/* A block that no event names: what it holds at the end it held at the start. */
static bool add_standing(plim_start *start, const plim_block *block)
{
    if (block->state == PLIM_BLOCK_ACTIVE_ALLOCATED) {
        const plim_start_allocation allocation = { .addr = block->addr,
                                                   .requested_bytes = block->requested_bytes,
                                                   .block_bytes = block->bytes,
                                                   .stack = block->stack,
                                                   .ended_by = PLIM_NONE,
                                                   .has_block = true };
        return PLIM_VEC_PUSH(start->mem, &start->allocations, allocation);
    }
    const plim_start_pending pending = {
        .addr = block->addr,
        .requested_bytes = block->bytes, /* what was requested of it, a freed block does not say */
        .block_bytes = block->bytes,
        .completed_by = PLIM_NONE,
        .has_block = true,
    };
    return PLIM_VEC_PUSH(start->mem, &start->pending, pending);
}

/* An allocated block at an address that events name. */
static bool know_allocated(plim_start *start, const plim_events *events, const plim_block *block,
                           plim_address_end end)
{
    if (end.outcome != PLIM_ADDRESS_LIVE) {
        start->anomalies[PLIM_ANOMALY_ACTIVE_NOT_LIVE]++;
        return true;
    }
    /* Blocks too small by their own account are counted with the end state. */
    start->anomalies[PLIM_ANOMALY_BLOCK_SIZE] +=
        block->bytes < events->bytes[end.event] && block->bytes >= block->requested_bytes;
    return push_known(start, block, end.event);
}

/* Holds the blocks that are not free at the end against what events left at their addresses. */
static bool add_blocks(plim_start *start, const plim_device_history *device)
{
    for (uint64_t i = 0; i < device->block_count; i++) {
        const plim_block *const block = &device->blocks[i];
        if (block->state == PLIM_BLOCK_INACTIVE) {
            continue;
        }
        const plim_address_end end = plim_lifetimes_at(&start->lifetimes, block->addr);
        bool done = true;
        if (end.outcome == PLIM_ADDRESS_UNTOUCHED) {
            done = add_standing(start, block);
        } else if (block->state == PLIM_BLOCK_ACTIVE_ALLOCATED) {
            done = know_allocated(start, &device->events, block, end);
        } else if (end.outcome == PLIM_ADDRESS_PENDING) {
            done = know_pending(start, block, end.event);
        }
        if (!done) {
            return false;
        }
    }
    return true;
}

static int compare_known(const void *a, const void *b)
{
    const plim_known_block *const left = a;
    const plim_known_block *const right = b;
    if (left->alloc != right->alloc) {
        return left->alloc < right->alloc ? -1 : 1;
    }
    return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

static int compare_events(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Sorts what is known by event; where blocks at one address contradict, the smaller stays. */
static void settle_known(plim_start *start)
{
    if (start->known.count > 0) {
        qsort(start->known.items, start->known.count, sizeof *start->known.items, compare_known);
    }
    if (start->pending_requests.count > 0) {
        qsort(start->pending_requests.items, start->pending_requests.count,
              sizeof *start->pending_requests.items, compare_events);
    }
    size_t kept = 0;
    uint64_t held = 0;
    for (size_t i = 0; i < start->known.count; i++) {
        const plim_known_block known = start->known.items[i];
        if (kept == 0 || start->known.items[kept - 1].alloc != known.alloc) {
            start->known.items[kept] = known;
            kept++;
            held += start->lifetimes.partner[known.alloc] == PLIM_NONE;
        }
    }
    start->known.count = kept;
    start->anomalies[PLIM_ANOMALY_LIVE_NOT_ACTIVE] += start->lifetimes.live_count_end - held;
}

/* --- together --- */

static void count_anomalies(plim_start *start)
{
    const plim_lifetimes *const lifetimes = &start->lifetimes;
    start->anomalies[PLIM_ANOMALY_DOUBLE_FREE] += lifetimes->double_frees;
    start->anomalies[PLIM_ANOMALY_ALLOC_OVER_LIVE] += lifetimes->allocs_over_live;
    start->anomalies[PLIM_ANOMALY_FREE_SIZE] += lifetimes->size_mismatches;
    start->anomalies[PLIM_ANOMALY_COMPLETED_UNREQUESTED] += lifetimes->unrequested_completions;
    start->anomalies[PLIM_ANOMALY_SEGMENT_UNKNOWN] += start->undone.contradictions;
    start->anomalies[PLIM_ANOMALY_SEGMENT_OVERLAP] += start->undone.overlaps;
    start->anomalies[PLIM_ANOMALY_EVENT_OUTSIDE] += start->undone.outside;
}

static bool reconstruct(plim_start *start, const plim_device_history *device)
{
    if (!add_start_frees(start, &device->events) ||
        !add_start_completions(start, &device->events) || !add_blocks(start, device)) {
        return false;
    }
    settle_known(start);
    if (device->segment_count == 0) {
        /* The source says nothing of the end, which is no contradiction. */
        start->anomalies[PLIM_ANOMALY_LIVE_NOT_ACTIVE] = 0;
    }
    if (start->lifetimes.start_frees.count > 0 &&
        frees_carry_stack_of_alloc(&start->lifetimes, &device->events)) {
        for (size_t i = 0; i < start->lifetimes.start_frees.count; i++) {
            start->allocations.items[i].stack_of_free = false;
        }
    }
    return true;
}

plim_status plim_start_init(plim_start *start, const plim_device_history *device,
                            plim_free_halves halves, const plim_mem *mem, plim_error *err)
{
    *start = (plim_start){ .mem = mem };
    plim_status status = plim_lifetimes_init(&start->lifetimes, &device->events, halves, mem, err);
    if (status == PLIM_OK) {
        status = plim_undone_init(&start->undone, device, mem, err);
    }
    if (status == PLIM_OK && !reconstruct(start, device)) {
        status = plim_fail_memory(err, "reconstructing the start of the history");
    }
    if (status != PLIM_OK) {
        plim_start_deinit(start);
        return status;
    }
    count_anomalies(start);
    plim_lifetimes_forget_addresses(&start->lifetimes); /* not asked again */
    return PLIM_OK;
}

void plim_start_deinit(plim_start *start)
{
    if (start->mem == NULL) {
        return;
    }
    plim_lifetimes_deinit(&start->lifetimes);
    plim_undone_deinit(&start->undone);
    PLIM_VEC_FREE(start->mem, &start->allocations);
    PLIM_VEC_FREE(start->mem, &start->pending);
    PLIM_VEC_FREE(start->mem, &start->known);
    PLIM_VEC_FREE(start->mem, &start->pending_requests);
    *start = (plim_start){ .mem = start->mem };
}
