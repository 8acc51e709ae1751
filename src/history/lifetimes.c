/*
 * lifetimes.c - one pass over the events with a table of addresses.
 *
 * A slot of the table is four bytes: the event that last changed what is at an address. The
 * address itself is read from that event, and so is the state: after an alloc something is live,
 * after a free_requested something is pending, after a free_completed nothing is there. With
 * addresses and states in the table it was four times the size, and a trace that never uses an
 * address twice took 24 bytes of it for each event.
 *
 * Events that contradict what is there leave it alone, but for an alloc, which ends what was live
 * or pending at its address: the allocator cannot have handed out what it did not get back.
 */
#include "history/lifetimes.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define MATCHES_MIN ((size_t)256)

/* --- what a file records --- */

plim_free_halves plim_free_halves_of(const plim_history *history, int32_t device)
{
    plim_free_halves halves = { 0 };
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        const plim_device_history *const other = plim_history_device(history, i);
        const size_t count = (size_t)other->events.count;
        const bool together = (other->device == PLIM_HOST_DEVICE) == (device == PLIM_HOST_DEVICE);
        if (!together || count == 0) {
            continue;
        }
        const uint8_t *const actions = other->events.action;
        halves.requested = halves.requested || memchr(actions, PLIM_FREE_REQUESTED, count) != NULL;
        halves.completed = halves.completed || memchr(actions, PLIM_FREE_COMPLETED, count) != NULL;
    }
    return halves;
}

/* --- the table --- */

/* The slot of `addr`, or the empty one where it would go. */
static uint32_t *find(const plim_address_table *table, const plim_events *events, plim_addr addr)
{
    size_t i = (size_t)plim_hash_u64(addr, table->hash_key) & table->mask;
    while (table->slots[i] != 0 && events->addr[table->slots[i] - 1] != addr) {
        i = (i + 1) & table->mask;
    }
    return &table->slots[i];
}

static bool grow(plim_lifetimes *lifetimes)
{
    plim_address_table *const table = &lifetimes->addresses;
    const size_t old_count = table->slots == NULL ? 0 : table->mask + 1;
    const size_t new_count = old_count == 0 ? MATCHES_MIN : old_count * 2;
    uint32_t *const slots = plim_mem_alloc_zeroed(lifetimes->mem, new_count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    uint32_t *const old = table->slots;
    table->slots = slots;
    table->mask = new_count - 1;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i] != 0) {
            *find(table, lifetimes->events, lifetimes->events->addr[old[i] - 1]) = old[i];
        }
    }
    plim_mem_free(lifetimes->mem, old, old_count, sizeof *old);
    return true;
}

static bool has_room(const plim_address_table *table)
{
    return table->slots != NULL && (table->count + 1) * 8 <= (table->mask + 1) * 5;
}

/* The state that the event of a slot left there. */
static plim_address_end end_of(const plim_lifetimes *lifetimes, uint32_t slot)
{
    if (slot == 0) {
        return (plim_address_end){ PLIM_ADDRESS_UNTOUCHED, PLIM_NONE };
    }
    const uint32_t event = slot - 1;
    const uint8_t action = lifetimes->events->action[event];
    if (action == PLIM_ALLOC) {
        return (plim_address_end){ PLIM_ADDRESS_LIVE, event };
    }
    if (action == PLIM_FREE_REQUESTED) {
        return (plim_address_end){ PLIM_ADDRESS_PENDING, event };
    }
    return (plim_address_end){ PLIM_ADDRESS_FREE, PLIM_NONE };
}

/* --- the three actions; each says whether there was memory --- */

static bool complete(plim_lifetimes *lifetimes, uint32_t request, uint32_t event)
{
    const plim_late_completion late = { request, event };
    const bool is_next =
        event == request + 1 && lifetimes->events->action[event] == PLIM_FREE_COMPLETED;
    return is_next || PLIM_VEC_PUSH(lifetimes->mem, &lifetimes->late, late);
}

static bool displace(plim_lifetimes *lifetimes, uint32_t event, uint32_t displaced)
{
    const plim_displacement displacement = { event, displaced };
    return PLIM_VEC_PUSH(lifetimes->mem, &lifetimes->displacements, displacement);
}

static bool match_alloc(plim_lifetimes *lifetimes, uint32_t event, uint32_t *slot)
{
    const plim_address_end there = end_of(lifetimes, *slot);
    *slot = event + 1;
    if (there.outcome == PLIM_ADDRESS_LIVE) {
        lifetimes->allocs_over_live++;
        lifetimes->partner[there.event] = event;
        return displace(lifetimes, event, there.event);
    }
    lifetimes->live_count_end++;
    /* A file that never completes a free says nothing by not completing this one. */
    if (there.outcome == PLIM_ADDRESS_PENDING && lifetimes->halves.completed) {
        return displace(lifetimes, event, there.event) && complete(lifetimes, there.event, event);
    }
    return true;
}

static bool match_end(plim_lifetimes *lifetimes, uint32_t event, uint32_t *slot)
{
    const plim_address_end there = end_of(lifetimes, *slot);
    if (there.outcome == PLIM_ADDRESS_LIVE) {
        const uint64_t *const size = lifetimes->events->bytes;
        lifetimes->partner[there.event] = event;
        lifetimes->partner[event] = there.event;
        lifetimes->live_count_end--;
        lifetimes->size_mismatches += size[there.event] != size[event];
        *slot = event + 1;
        return true;
    }
    /* What the trace has met there before cannot have been live from before it. */
    if (there.outcome == PLIM_ADDRESS_UNTOUCHED) {
        *slot = event + 1;
        return PLIM_VEC_PUSH(lifetimes->mem, &lifetimes->start_frees, event);
    }
    lifetimes->double_frees++;
    return true;
}

static bool match_completion(plim_lifetimes *lifetimes, uint32_t event, uint32_t *slot)
{
    const plim_address_end there = end_of(lifetimes, *slot);
    if (there.outcome == PLIM_ADDRESS_PENDING) {
        lifetimes->partner[event] = there.event;
        *slot = event + 1;
        return complete(lifetimes, there.event, event);
    }
    if (there.outcome == PLIM_ADDRESS_UNTOUCHED) {
        *slot = event + 1;
        return PLIM_VEC_PUSH(lifetimes->mem, &lifetimes->start_completions, event);
    }
    lifetimes->unrequested_completions++;
    return true;
}

/* --- together --- */

static bool match(plim_lifetimes *lifetimes)
{
    const plim_events *const events = lifetimes->events;
    plim_address_table *const table = &lifetimes->addresses;
    for (uint64_t i = 0; i < events->count; i++) {
        const uint8_t action = events->action[i];
        if (action > PLIM_FREE_COMPLETED) {
            continue;
        }
        if (!has_room(table) && !grow(lifetimes)) {
            return false;
        }
        uint32_t *const slot = find(table, events, events->addr[i]);
        table->count += *slot == 0; /* whatever comes to an untouched address stays there */
        const uint32_t event = (uint32_t)i;
        const bool done = action == PLIM_ALLOC ? match_alloc(lifetimes, event, slot)
                          : plim_ends_allocation(lifetimes->halves, action)
                              ? match_end(lifetimes, event, slot)
                              : match_completion(lifetimes, event, slot);
        if (!done) {
            return false;
        }
    }
    return true;
}

static int compare_requests(const void *a, const void *b)
{
    const uint32_t left = ((const plim_late_completion *)a)->request;
    const uint32_t right = ((const plim_late_completion *)b)->request;
    return (left > right) - (left < right);
}

plim_status plim_lifetimes_init(plim_lifetimes *lifetimes, const plim_events *events,
                                plim_free_halves halves, const plim_mem *mem, plim_error *err)
{
    _Static_assert(PLIM_ALLOC < PLIM_FREE_COMPLETED && PLIM_FREE_REQUESTED < PLIM_FREE_COMPLETED,
                   "the three actions of allocations come first");
    *lifetimes = (plim_lifetimes){
        .mem = mem, .events = events, .halves = halves, .addresses = { .hash_key = plim_hash_key() }
    };
    if (events->count > PLIM_MATCHED_EVENTS_MAX) {
        return plim_fail(err, PLIM_LIMIT, "a device with more than %llu events",
                         (unsigned long long)PLIM_MATCHED_EVENTS_MAX);
    }
    if (events->count == 0) {
        return PLIM_OK;
    }
    lifetimes->partner = plim_mem_alloc(mem, events->count, sizeof *lifetimes->partner);
    if (lifetimes->partner == NULL) {
        return plim_fail_memory(err, "matching allocations and frees");
    }
    memset(lifetimes->partner, 0xff, events->count * sizeof *lifetimes->partner); /* PLIM_NONE */
    if (!match(lifetimes)) {
        plim_lifetimes_deinit(lifetimes);
        return plim_fail_memory(err, "matching allocations and frees");
    }
    if (lifetimes->late.count > 0) {
        qsort(lifetimes->late.items, lifetimes->late.count, sizeof *lifetimes->late.items,
              compare_requests);
    }
    return PLIM_OK;
}

uint32_t plim_lifetimes_completion(const plim_lifetimes *lifetimes, uint32_t request)
{
    const uint32_t next = request + 1;
    if (next < lifetimes->events->count && lifetimes->partner[next] == request &&
        lifetimes->events->action[next] == PLIM_FREE_COMPLETED) {
        return next;
    }
    const plim_late_completion wanted = { .request = request };
    const plim_late_completion *const late =
        lifetimes->late.count == 0 ? NULL
                                   : bsearch(&wanted, lifetimes->late.items, lifetimes->late.count,
                                             sizeof wanted, compare_requests);
    return late != NULL ? late->completed : PLIM_NONE;
}

void plim_lifetimes_deinit(plim_lifetimes *lifetimes)
{
    if (lifetimes->mem == NULL) {
        return;
    }
    const plim_mem *mem = lifetimes->mem;
    plim_lifetimes_forget_addresses(lifetimes);
    plim_mem_free(mem, lifetimes->partner, lifetimes->events->count, sizeof *lifetimes->partner);
    PLIM_VEC_FREE(mem, &lifetimes->start_frees);
    PLIM_VEC_FREE(mem, &lifetimes->start_completions);
    PLIM_VEC_FREE(mem, &lifetimes->displacements);
    PLIM_VEC_FREE(mem, &lifetimes->late);
    *lifetimes = (plim_lifetimes){ 0 };
}

plim_address_end plim_lifetimes_at(const plim_lifetimes *lifetimes, plim_addr addr)
{
    const plim_address_table *const table = &lifetimes->addresses;
    return end_of(lifetimes, table->slots == NULL ? 0 : *find(table, lifetimes->events, addr));
}

void plim_lifetimes_forget_addresses(plim_lifetimes *lifetimes)
{
    plim_address_table *const table = &lifetimes->addresses;
    if (table->slots != NULL) {
        plim_mem_free(lifetimes->mem, table->slots, table->mask + 1, sizeof *table->slots);
    }
    *table = (plim_address_table){ .hash_key = table->hash_key };
}
