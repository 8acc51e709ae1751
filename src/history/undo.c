/*
 * undo.c - one walk over the events from the last to the first, with the set of segments.
 *
 * On its way the walk sees which segments stand at each allocation, and that is checked too.
 * Searching the set for each would cost more than all the rest, but programs use the same
 * addresses over and over: a small table remembers, for an address, the end of the segment it
 * lies in, and is forgotten whenever a segment comes or goes.
 */
#include "history/undo.h"

#include "base/error.h"
#include "history/driver_actions.h"

#define MEMORY_SLOTS 1024u /* 24 KiB: stays in the first cache */

typedef struct memory_slot {
    plim_addr addr;
    plim_addr segment_end;
    uint64_t epoch; /* 0: never filled */
} memory_slot;

typedef struct undo_walk {
    plim_undone *undone;
    const plim_events *events;
    uint64_t epoch; /* changes with the segments; from 1 */
    memory_slot memory[MEMORY_SLOTS];
} undo_walk;

static plim_spans_result undo_event(plim_spans *segments, const plim_events *events, uint64_t event)
{
    const uint8_t action = events->action[event];
    const plim_span span = plim_span_of(events->addr[event], events->bytes[event],
                                        events->stream[event], action == PLIM_SEGMENT_UNMAP);
    switch (action) {
    case PLIM_SEGMENT_ALLOC:
        return plim_spans_remove(segments, span.begin, span.end);
    case PLIM_SEGMENT_MAP:
        return plim_spans_cut(segments, span.begin, span.end);
    default:
        return plim_spans_add(segments, span);
    }
}

plim_spans_result plim_segments_follow(plim_spans *segments, const plim_events *events,
                                       uint64_t event)
{
    const uint8_t action = events->action[event];
    const plim_span span = plim_span_of(events->addr[event], events->bytes[event],
                                        events->stream[event], action == PLIM_SEGMENT_MAP);
    switch (action) {
    case PLIM_SEGMENT_FREE:
        return plim_spans_remove(segments, span.begin, span.end);
    case PLIM_SEGMENT_UNMAP:
        return plim_spans_cut(segments, span.begin, span.end);
    default:
        return plim_spans_add(segments, span);
    }
}

/* Takes back what the event did to reserved bytes; false when there is no memory. */
static bool undo_reserved(plim_undone *undone, const plim_events *events, uint64_t event,
                          bool *ret_fits)
{
    const uint64_t bytes = events->bytes[event];
    const uint8_t action = events->action[event];
    *ret_fits = true;
    if (action == PLIM_SEGMENT_FREE || action == PLIM_SEGMENT_UNMAP) {
        undone->reserved += bytes;
        return true;
    }
    if (bytes <= undone->reserved) {
        undone->reserved -= bytes;
        return true;
    }
    const plim_shortfall shortfall = { event, bytes - (uint64_t)undone->reserved };
    undone->reserved = 0;
    *ret_fits = false;
    return PLIM_VEC_PUSH(undone->mem, &undone->shortfalls, shortfall);
}

static bool undo_segment(undo_walk *walk, uint64_t event)
{
    plim_undone *const undone = walk->undone;
    bool fits = false;
    if (!undo_reserved(undone, walk->events, event, &fits)) {
        return false;
    }
    const plim_spans_result result = undo_event(&undone->segments, walk->events, event);
    walk->epoch++;
    undone->contradictions += !fits || result == PLIM_SPANS_CONTRADICTION;
    return result != PLIM_SPANS_NO_MEMORY;
}

static bool is_inside(undo_walk *walk, uint64_t event)
{
    const plim_addr addr = walk->events->addr[event];
    /* Blocks begin at multiples of 512; the higher bits keep segments apart. */
    memory_slot *const slot = &walk->memory[(addr >> 9 ^ addr >> 21) % MEMORY_SLOTS];
    if (slot->addr != addr || slot->epoch != walk->epoch) {
        const plim_span *const span = plim_spans_find(&walk->undone->segments, addr);
        const plim_addr end = span == NULL ? 0 : span->end;
        *slot = (memory_slot){ .addr = addr, .segment_end = end, .epoch = walk->epoch };
    }
    return addr < slot->segment_end && walk->events->bytes[event] <= slot->segment_end - addr;
}

static bool undo_all(undo_walk *walk)
{
    for (uint64_t i = walk->events->count; i-- > 0;) {
        const uint8_t action = walk->events->action[i];
        if (action == PLIM_ALLOC) {
            walk->undone->outside += !is_inside(walk, i);
        } else if (plim_is_driver_call(action) && !undo_segment(walk, i)) {
            return false;
        }
    }
    return true;
}

static bool has_segment_events(const plim_events *events)
{
    for (uint64_t i = 0; i < events->count; i++) {
        if (plim_is_driver_call(events->action[i])) {
            return true;
        }
    }
    return false;
}

/* The segments at the end, which for contradictory ones means: the first of those that overlap. */
static bool stand_at_end(plim_undone *undone, const plim_device_history *device)
{
    for (uint64_t i = 0; i < device->segment_count; i++) {
        const plim_segment *const segment = &device->segments[i];
        undone->reserved += segment->bytes;
        const plim_spans_result result = plim_spans_add(
            &undone->segments,
            plim_span_of(segment->addr, segment->bytes, segment->stream, segment->is_expandable));
        if (result == PLIM_SPANS_NO_MEMORY) {
            return false;
        }
        undone->overlaps += result == PLIM_SPANS_CONTRADICTION && segment->bytes > 0;
    }
    return true;
}

plim_status plim_undone_init(plim_undone *undone, const plim_device_history *device,
                             const plim_mem *mem, plim_error *err)
{
    *undone = (plim_undone){ .mem = mem };
    plim_spans_init(&undone->segments, mem);
    bool done = stand_at_end(undone, device);
    /* A source that says nothing of segments does not contradict itself. */
    if (done && (device->segment_count > 0 || has_segment_events(&device->events))) {
        undo_walk *const walk_back = plim_mem_alloc_zeroed(mem, 1, sizeof *walk_back);
        done = walk_back != NULL;
        if (done) {
            walk_back->undone = undone;
            walk_back->events = &device->events;
            walk_back->epoch = 1;
            done = undo_all(walk_back);
            plim_mem_free(mem, walk_back, 1, sizeof *walk_back);
        }
    }
    if (!done) {
        plim_undone_deinit(undone);
        return plim_fail_memory(err, "undoing segment events");
    }
    return PLIM_OK;
}

void plim_undone_deinit(plim_undone *undone)
{
    if (undone->mem == NULL) {
        return;
    }
    plim_spans_deinit(&undone->segments);
    PLIM_VEC_FREE(undone->mem, &undone->shortfalls);
    *undone = (plim_undone){ .mem = undone->mem };
}
