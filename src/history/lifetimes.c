/*
 * lifetimes.c - one pass over the events with a map from addresses to what is there.
 *
 * The state of an address is two numbers in the 64 bits of a map's value: the event that
 * allocated what is live there (low half) and the free_requested that awaits its completion
 * (high half), each plus one, 0 for none. At most one of them is set, because an alloc ends what
 * was pending at its address: the allocator cannot have handed out what it did not get back.
 */
#include "history/lifetimes.h"

#include "base/assert.h"
#include "base/error.h"

#include <string.h>

#define UNTOUCHED (UINT32_MAX - 1) /* in place of a pending event: none so far named the address \
                                    */
#define FRESH ((uint64_t)UNTOUCHED << 32)
_Static_assert(FRESH != PLIM_MAP_ABSENT, "a state is a value of the map");
_Static_assert(PLIM_MATCHED_EVENTS_MAX < UNTOUCHED, "no event is the mark");

typedef struct place {
    uint32_t live;    /* event + 1, or 0 */
    uint32_t pending; /* event + 1, 0, or UNTOUCHED */
} place;

static place unpack(uint64_t value)
{
    return (place){ .live = (uint32_t)value, .pending = (uint32_t)(value >> 32) };
}

static uint64_t pack(uint32_t live, uint32_t pending)
{
    return (uint64_t)pending << 32 | live;
}

static bool is_event(uint32_t pending)
{
    return pending != 0 && pending != UNTOUCHED;
}

static bool displace(plim_lifetimes *lifetimes, uint32_t event, uint32_t displaced)
{
    const plim_displacement displacement = { event, displaced };
    return PLIM_VEC_PUSH(lifetimes->mem, &lifetimes->displacements, displacement);
}

static bool match_alloc(plim_lifetimes *lifetimes, uint32_t event, uint64_t *value)
{
    const place there = unpack(*value);
    *value = pack(event + 1, 0);
    if (there.live != 0) {
        lifetimes->allocs_over_live++;
        lifetimes->partner[there.live - 1] = event;
        return displace(lifetimes, event, there.live - 1);
    }
    lifetimes->live_count_end++;
    /* A file that never completes a free says nothing by not completing this one. */
    if (is_event(there.pending) && lifetimes->halves.completed) {
        return displace(lifetimes, event, there.pending - 1);
    }
    return true;
}

static bool match_end(plim_lifetimes *lifetimes, const plim_events *events, uint32_t event,
                      uint64_t *value)
{
    const place there = unpack(*value);
    const uint32_t pending = lifetimes->halves.requested ? event + 1 : 0;
    if (there.live != 0) {
        const uint32_t alloc = there.live - 1;
        lifetimes->partner[alloc] = event;
        lifetimes->partner[event] = alloc;
        lifetimes->live_count_end--;
        lifetimes->size_mismatches += events->size[alloc] != events->size[event];
        *value = pack(0, pending);
        return true;
    }
    /* What the trace has met there before cannot have been live from before it. */
    if (there.pending == UNTOUCHED) {
        *value = pack(0, pending);
        return PLIM_VEC_PUSH(lifetimes->mem, &lifetimes->start_frees, event);
    }
    lifetimes->double_frees++;
    return true;
}

static bool match_completion(plim_lifetimes *lifetimes, uint32_t event, uint64_t *value)
{
    const place there = unpack(*value);
    if (is_event(there.pending)) {
        lifetimes->partner[event] = there.pending - 1;
        *value = pack(0, 0);
        return true;
    }
    if (there.pending == UNTOUCHED) {
        *value = pack(0, 0);
        return PLIM_VEC_PUSH(lifetimes->mem, &lifetimes->start_completions, event);
    }
    lifetimes->unrequested_completions++;
    return true;
}

static bool match(plim_lifetimes *lifetimes, const plim_events *events)
{
    for (uint64_t i = 0; i < events->count; i++) {
        const uint8_t action = events->action[i];
        if (action > PLIM_FREE_COMPLETED) {
            continue;
        }
        uint64_t *value = plim_map_at(&lifetimes->addresses, events->addr[i], FRESH);
        if (value == NULL) {
            return false;
        }
        const uint32_t event = (uint32_t)i;
        const bool done = action == PLIM_ALLOC ? match_alloc(lifetimes, event, value)
                          : plim_ends_allocation(lifetimes->halves, action)
                              ? match_end(lifetimes, events, event, value)
                              : match_completion(lifetimes, event, value);
        if (!done) {
            return false;
        }
    }
    return true;
}

plim_status plim_lifetimes_init(plim_lifetimes *lifetimes, const plim_events *events,
                                plim_free_halves halves, const plim_mem *mem, plim_error *err)
{
    _Static_assert(PLIM_ALLOC < PLIM_FREE_COMPLETED && PLIM_FREE_REQUESTED < PLIM_FREE_COMPLETED,
                   "the three actions of allocations come first");
    *lifetimes = (plim_lifetimes){ .mem = mem, .event_count = events->count, .halves = halves };
    plim_map_init(&lifetimes->addresses, mem);
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
    if (!match(lifetimes, events)) {
        plim_lifetimes_deinit(lifetimes);
        return plim_fail_memory(err, "matching allocations and frees");
    }
    return PLIM_OK;
}

void plim_lifetimes_deinit(plim_lifetimes *lifetimes)
{
    if (lifetimes->mem == NULL) {
        return;
    }
    const plim_mem *mem = lifetimes->mem;
    plim_mem_free(mem, lifetimes->partner, lifetimes->event_count, sizeof *lifetimes->partner);
    plim_map_deinit(&lifetimes->addresses);
    PLIM_VEC_FREE(mem, &lifetimes->start_frees);
    PLIM_VEC_FREE(mem, &lifetimes->start_completions);
    PLIM_VEC_FREE(mem, &lifetimes->displacements);
    *lifetimes = (plim_lifetimes){ .mem = mem };
}

plim_address_end plim_lifetimes_at(const plim_lifetimes *lifetimes, plim_addr addr)
{
    const uint64_t value = plim_map_get(&lifetimes->addresses, addr);
    if (value == PLIM_MAP_ABSENT) {
        return (plim_address_end){ PLIM_ADDRESS_UNTOUCHED, PLIM_NONE };
    }
    const place there = unpack(value);
    if (there.live != 0) {
        return (plim_address_end){ PLIM_ADDRESS_LIVE, there.live - 1 };
    }
    if (is_event(there.pending)) {
        return (plim_address_end){ PLIM_ADDRESS_PENDING, there.pending - 1 };
    }
    return (plim_address_end){ PLIM_ADDRESS_FREE, PLIM_NONE };
}
