/*
 * origin.c - one walk over a device's events from the last to the first, with its segments.
 *
 * Events that contradict the segments around them change nothing: origins are hints for readers
 * that have to work out what stands (mirror.c), and those believe the events.
 */
#include "trace/write/origin.h"

#include "base/block_bytes.h"
#include "base/error.h"

typedef struct origin_walk {
    plim_origins *origins;
    const plim_history *history;
    const plim_events *events;
    plim_span found; /* of the last look-up; empty: none */
} origin_walk;

static uint32_t row_at(origin_walk *walk, plim_addr addr)
{
    if (addr < walk->found.begin || addr >= walk->found.end) {
        const plim_span *const span = plim_spans_find(&walk->origins->at_start, addr);
        if (span == NULL) {
            return PLIM_NONE;
        }
        walk->found = *span;
    }
    return walk->found.tag;
}

/* A request shows whether a segment is small, where nothing else does. */
static void learn(origin_walk *walk, uint64_t event, uint32_t row)
{
    if (row != PLIM_NONE && walk->events->action[event] == PLIM_ALLOC &&
        !walk->origins->rows.items[row].is_sure) {
        walk->origins->rows.items[row].is_small =
            walk->events->bytes[event] <= PLIM_SMALL_BYTES_MAX;
        walk->origins->rows.items[row].is_sure = true;
    }
}

/* The row of a neighbour that is part of the same run, or PLIM_NONE. */
static uint32_t row_of_run(const plim_origins *origins, plim_addr inside, const plim_origin *origin)
{
    const plim_span *const span = plim_spans_find(&origins->at_start, inside);
    if (span == NULL) {
        return PLIM_NONE;
    }
    const plim_origin *const row = &origins->rows.items[span->tag];
    return row->is_expandable && row->stream == origin->stream ? span->tag : PLIM_NONE;
}

/* The one of two rows, which may be PLIM_NONE, that says more. */
static uint32_t better_row(const plim_origins *origins, uint32_t a, uint32_t b)
{
    return b != PLIM_NONE && (a == PLIM_NONE ||
                              (!origins->rows.items[a].is_sure && origins->rows.items[b].is_sure))
               ? b
               : a;
}

/* The mapped run that the range touches, or a row of its own. */
static bool choose_row(plim_origins *origins, const plim_span *span, const plim_origin *origin,
                       uint32_t *ret_row)
{
    if (origin->is_expandable) {
        const uint32_t low =
            span->begin == 0 ? PLIM_NONE : row_of_run(origins, span->begin - 1, origin);
        *ret_row = better_row(origins, low, row_of_run(origins, span->end, origin));
        if (*ret_row != PLIM_NONE) {
            return true;
        }
    }
    *ret_row = (uint32_t)origins->rows.count;
    return PLIM_VEC_PUSH(origins->mem, &origins->rows, *origin);
}

/* A segment that goes with this event stood before it. */
static bool bring_back(origin_walk *walk, uint64_t event, uint32_t *ret_row)
{
    const plim_events *const events = walk->events;
    const plim_note *const note = plim_history_note(walk->history, events->note[event]);
    const plim_origin origin = { .pool = note->pool,
                                 .stream = events->stream[event],
                                 .stack = PLIM_NONE,
                                 .is_small = events->bytes[event] == PLIM_SMALL_SEGMENT_BYTES,
                                 .is_expandable = events->action[event] == PLIM_SEGMENT_UNMAP };
    plim_span span = plim_span_of(events->addr[event], events->bytes[event], 0, false);
    if (!choose_row(walk->origins, &span, &origin, ret_row)) {
        return false;
    }
    span.tag = *ret_row;
    return plim_spans_add(&walk->origins->at_start, span) != PLIM_SPANS_NO_MEMORY;
}

/* What comes with this event did not stand before it. */
static bool take_away(origin_walk *walk, uint64_t event, uint32_t *ret_row)
{
    plim_spans *const standing = &walk->origins->at_start;
    const plim_span gone =
        plim_span_of(walk->events->addr[event], walk->events->bytes[event], 0, false);
    *ret_row = row_at(walk, gone.begin);
    if (walk->events->action[event] == PLIM_SEGMENT_ALLOC) {
        (void)plim_spans_remove(standing, gone.begin, gone.end);
        return true;
    }
    const plim_span *span = gone.begin < gone.end ? plim_spans_from(standing, gone.begin) : NULL;
    while (span != NULL && span->begin < gone.end) {
        const plim_addr begin = span->begin > gone.begin ? span->begin : gone.begin;
        const plim_addr end = span->end < gone.end ? span->end : gone.end;
        *ret_row = better_row(walk->origins, *ret_row, span->tag);
        if (plim_spans_cut(standing, begin, end) != PLIM_SPANS_DONE) {
            return false; /* no memory: no other reason is left */
        }
        span = plim_spans_from(standing, gone.begin);
    }
    return true;
}

static bool walk_back(origin_walk *walk)
{
    bool done = true;
    for (uint64_t i = walk->events->count; i-- > 0 && done;) {
        uint32_t row = PLIM_NONE;
        switch (walk->events->action[i]) {
        case PLIM_ALLOC:
        case PLIM_FREE_REQUESTED:
        case PLIM_FREE_COMPLETED:
            row = row_at(walk, walk->events->addr[i]);
            learn(walk, i, row);
            break;
        case PLIM_SEGMENT_ALLOC:
        case PLIM_SEGMENT_MAP:
            done = take_away(walk, i, &row);
            walk->found = (plim_span){ 0 };
            break;
        case PLIM_SEGMENT_FREE:
        case PLIM_SEGMENT_UNMAP:
            done = bring_back(walk, i, &row);
            walk->found = (plim_span){ 0 };
            break;
        default:
            break;
        }
        walk->origins->of_event[i] = row;
    }
    return done;
}

static bool stand_at_end(plim_origins *origins, const plim_device_history *device)
{
    for (uint64_t i = 0; i < device->segment_count; i++) {
        const plim_segment *const segment = &device->segments[i];
        const plim_origin origin = { .pool = segment->pool,
                                     .stream = segment->stream,
                                     .stack = segment->stack,
                                     .is_small = !segment->is_large,
                                     .is_expandable = segment->is_expandable,
                                     .is_sure = true };
        const uint32_t row = (uint32_t)origins->rows.count;
        const plim_span span = plim_span_of(segment->addr, segment->bytes, row, false);
        if (!PLIM_VEC_PUSH(origins->mem, &origins->rows, origin) ||
            plim_spans_add(&origins->at_start, span) == PLIM_SPANS_NO_MEMORY) {
            return false;
        }
    }
    return true;
}

plim_status plim_origins_init(plim_origins *origins, const plim_history *history,
                              const plim_device_history *device, const plim_mem *mem,
                              plim_error *err)
{
    *origins = (plim_origins){ .mem = mem, .event_count = device->events.count };
    plim_spans_init(&origins->at_start, mem);
    origins->of_event =
        plim_mem_alloc(mem, (size_t)origins->event_count + 1, sizeof *origins->of_event);
    origin_walk walk = { .origins = origins, .history = history, .events = &device->events };
    if (origins->of_event == NULL || !stand_at_end(origins, device) || !walk_back(&walk)) {
        return plim_fail_memory(err, "working out the segments of a recording");
    }
    return PLIM_OK;
}

void plim_origins_deinit(plim_origins *origins)
{
    if (origins->mem == NULL) {
        return;
    }
    if (origins->of_event != NULL) {
        plim_mem_free(origins->mem, origins->of_event, (size_t)origins->event_count + 1,
                      sizeof *origins->of_event);
    }
    plim_spans_deinit(&origins->at_start);
    PLIM_VEC_FREE(origins->mem, &origins->rows);
    *origins = (plim_origins){ 0 };
}
