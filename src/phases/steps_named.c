/*
 * steps_named.c - steps that the program, its optimizer or its stacks name. See steps.h.
 */
#include "phases/steps.h"

/* The number of a step's first requests that are looked for in the step before it. */
#define FIRST_REQUESTS 16

/* --- steps with a beginning of their own --- */

static bool add(const plim_steps_search *search, plim_bounds *bounds, uint64_t event)
{
    if (bounds->count > 0 && bounds->items[bounds->count - 1] >= event) {
        return true; /* a span without events is no step */
    }
    return PLIM_VEC_PUSH(search->mem, bounds, event);
}

static bool from_starts(const plim_steps_search *search, plim_mark_kind kind, plim_bounds *bounds)
{
    const size_t count = search->marks.of[kind].count;
    const plim_mark *marks = search->marks.of[kind].items;
    for (size_t i = 0; i < count; i++) {
        if (!add(search, bounds, marks[i].first)) {
            return false;
        }
    }
    return count == 0 || add(search, bounds, marks[count - 1].end);
}

/* A loader's span ends where the work on its batch begins: the last one has the rest. */
static bool from_loader(const plim_steps_search *search, plim_bounds *bounds)
{
    return from_starts(search, PLIM_MARK_LOADER, bounds) &&
           add(search, bounds, search->events->count);
}

static uint64_t next_alloc(const plim_events *events, uint64_t event)
{
    while (event < events->count && events->action[event] != PLIM_ALLOC) {
        event++;
    }
    return event;
}

/* Spans of optimizers with no request between them are one: several optimizers stepped. */
static bool from_optimizer_spans(const plim_steps_search *search, plim_bounds *bounds)
{
    const plim_mark *marks = search->marks.of[PLIM_MARK_OPTIMIZER].items;
    for (size_t i = 0; i < search->marks.of[PLIM_MARK_OPTIMIZER].count; i++) {
        if (!marks[i].is_ended) {
            break; /* the recording ends inside the step */
        }
        const uint64_t end = next_alloc(search->events, marks[i].end);
        const bool is_same =
            bounds->count > 0 && marks[i].first <= bounds->items[bounds->count - 1];
        if (is_same) {
            bounds->items[bounds->count - 1] = end;
        } else if (end > 0 && !PLIM_VEC_PUSH(search->mem, bounds, end)) {
            return false;
        }
    }
    return plim_steps_from_ends(search, bounds);
}

bool plim_steps_from_marks(const plim_steps_search *search, plim_bounds *bounds)
{
    if (!from_starts(search, PLIM_MARK_PROFILER, bounds)) {
        return false;
    }
    if (bounds->count < 2) {
        bounds->count = 0;
        if (search->marks.of[PLIM_MARK_STEP].count > 1 &&
            !from_starts(search, PLIM_MARK_STEP, bounds)) {
            return false;
        }
    }
    if (bounds->count < 2) {
        bounds->count = 0;
        if (!from_optimizer_spans(search, bounds)) {
            return false;
        }
    }
    if (bounds->count < 2) {
        bounds->count = 0;
        if (search->marks.of[PLIM_MARK_LOADER].count > 2 && !from_loader(search, bounds)) {
            return false;
        }
    }
    if (bounds->count < 2) {
        PLIM_VEC_FREE(search->mem, bounds);
    }
    return true;
}

/* --- where the first step begins, when only ends are known --- */

static bool is_same_request(const plim_events *events, uint64_t a, uint64_t b)
{
    if (events->stack[a] != events->stack[b] || events->stream[a] != events->stream[b]) {
        return false;
    }
    return events->stack[a] != PLIM_NONE || events->bytes[a] == events->bytes[b];
}

/* True if making the model is over: the event after the last request that builds, before the
 * first one that runs a module. */
static bool find_end_of_building(const plim_steps_search *search, uint64_t end, uint64_t *ret_event)
{
    uint64_t behind = 0;
    bool is_seen = false;
    for (uint64_t i = 0; i < end; i++) {
        const plim_stack_kind kind = plim_search_kind(search, i);
        if (search->events->action[i] != PLIM_ALLOC) {
            continue;
        }
        if (kind == PLIM_STACK_FORWARD) {
            break;
        }
        if (kind == PLIM_STACK_BUILD || kind == PLIM_STACK_USER_INIT ||
            kind == PLIM_STACK_BUCKETS || kind == PLIM_STACK_OPTIMIZER_SETUP) {
            is_seen = true;
            behind = i + 1;
        }
    }
    *ret_event = behind;
    return is_seen;
}

/* The first step begins with what the second one begins with. false: it is torn. */
static bool find_first(const plim_steps_search *search, const plim_bounds *ends,
                       uint64_t *ret_event)
{
    const plim_events *events = search->events;
    uint64_t built = 0;
    const bool is_whole = find_end_of_building(search, ends->items[0], &built);
    uint64_t wanted = ends->items[0];
    for (size_t tries = 0; ends->count > 1 && tries < FIRST_REQUESTS; tries++, wanted++) {
        wanted = next_alloc(events, wanted);
        if (wanted >= ends->items[1]) {
            break;
        }
        for (uint64_t i = built; i < ends->items[0]; i++) {
            if (events->action[i] == PLIM_ALLOC && is_same_request(events, i, wanted)) {
                *ret_event = i;
                return true;
            }
        }
        if (!is_whole && tries == 0) {
            return false;
        }
    }
    *ret_event = next_alloc(events, built);
    return is_whole || ends->count == 1;
}

bool plim_steps_from_ends(const plim_steps_search *search, plim_bounds *bounds)
{
    uint64_t first = 0;
    if (bounds->count == 0 || !find_first(search, bounds, &first)) {
        return true; /* the end of the torn step is where the first whole one begins */
    }
    if (first >= bounds->items[0]) {
        return true;
    }
    if (!PLIM_VEC_PUSH(search->mem, bounds, 0)) {
        return false;
    }
    for (size_t i = bounds->count - 1; i > 0; i--) {
        bounds->items[i] = bounds->items[i - 1];
    }
    bounds->items[0] = first;
    return true;
}

/* --- bursts of an optimizer's requests --- */

static bool is_optimizer(plim_stack_kind kind)
{
    return kind == PLIM_STACK_OPTIMIZER_STATE || kind == PLIM_STACK_OPTIMIZER_STEP;
}

/* True if any module is called under the eyes of the recorder. */
static bool has_forward(const plim_steps_search *search)
{
    for (uint64_t i = 0; i < search->events->count; i++) {
        if (search->events->action[i] == PLIM_ALLOC &&
            plim_search_kind(search, i) == PLIM_STACK_FORWARD) {
            return true;
        }
    }
    return false;
}

/*
 * A burst ends with its last request; the next one only begins after a forward pass (in a
 * history that shows none: after requests of the program that are not the optimizer's). So
 * optimizers that step inside of the backward pass, weight by weight, are one burst too.
 */
bool plim_steps_from_optimizer(const plim_steps_search *search, plim_bounds *bounds)
{
    const plim_events *events = search->events;
    const bool needs_forward = has_forward(search);
    bool is_apart = true; /* something lies between the last burst and here */
    for (uint64_t i = 0; i < events->count; i++) {
        const plim_stack_kind kind = plim_search_kind(search, i);
        if (events->action[i] != PLIM_ALLOC) {
            continue;
        }
        if (!is_optimizer(kind)) {
            is_apart = is_apart || kind == PLIM_STACK_FORWARD ||
                       (!needs_forward && (kind == PLIM_STACK_USER || kind == PLIM_STACK_DATA));
            continue;
        }
        const uint64_t end = next_alloc(events, i + 1);
        if (!is_apart) {
            bounds->items[bounds->count - 1] = end;
        } else if (!PLIM_VEC_PUSH(search->mem, bounds, end)) {
            return false;
        }
        is_apart = false;
    }
    if (!plim_steps_from_ends(search, bounds)) {
        return false;
    }
    if (bounds->count < 2) {
        PLIM_VEC_FREE(search->mem, bounds);
    }
    return true;
}
