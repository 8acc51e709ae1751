/*
 * axis.c - see axis.h. The thresholds are argued in docs/design/diagnose.md.
 */
#include "diagnose/leaks/axis.h"

#include "base/map.h"

/* Turns that make a loop. */
#define TURNS_MIN 5
/* They span this share of all requests of the program's own thread after the model was made. */
#define SPAN_MIN 0.6
/* No turn is longer than so many average ones. */
#define UNEVEN_MAX 3.0
/* The share of turns that do what a turn does. */
#define TURNS_SHARE 0.8

/* One kind of request, by stack, or by size where there are no stacks. */
typedef struct anchor {
    uint64_t key;
    uint64_t first; /* request, counted from 0 */
    uint64_t last;
    uint64_t longest; /* distance of two */
    uint64_t count;
    uint64_t event; /* of the first */
    bool is_fit;
} anchor;

typedef struct anchor_search {
    const plim_case *one;
    plim_map rows;
    PLIM_VEC(anchor) list;
    uint64_t requests;
} anchor_search;

/* True if a loop may begin with requests of this stack: nothing of it is a module's call, nor makes
 * the model. */
static bool is_outside(const plim_case *one, uint32_t stack)
{
    const plim_stack_kinds *const kinds = &one->passes.stacks;
    switch (plim_stack_kind_of(kinds, stack)) {
    case PLIM_STACK_NONE:
    case PLIM_STACK_BUILD:
    case PLIM_STACK_USER_INIT:
    case PLIM_STACK_BUCKETS:
    case PLIM_STACK_OPTIMIZER_SETUP:
        return false;
    case PLIM_STACK_USER:
    case PLIM_STACK_DATA:
    case PLIM_STACK_FORWARD:
    case PLIM_STACK_RECOMPUTE:
    case PLIM_STACK_BACKWARD:
    case PLIM_STACK_GRADIENT_TOOLS:
    case PLIM_STACK_ZERO_GRAD:
    case PLIM_STACK_OPTIMIZER_STATE:
    case PLIM_STACK_OPTIMIZER_STEP:
        break;
    }
    const plim_stack frames = plim_history_stack(one->history, stack);
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        if (plim_frame_is_module_call(kinds, frames.frames[i])) {
            return false;
        }
    }
    return true;
}

static bool is_build(const plim_case *one, uint32_t stack)
{
    const plim_stack_kind kind = plim_stack_kind_of(&one->passes.stacks, stack);
    return kind == PLIM_STACK_BUILD || kind == PLIM_STACK_USER_INIT;
}

static bool add_request(anchor_search *search, uint64_t event)
{
    const plim_events *const events = &search->one->device->events;
    const bool has_stacks = search->one->has_stacks;
    const uint64_t key = has_stacks ? events->stack[event] : events->bytes[event] >> 1;
    const uint64_t now = search->requests++;
    uint64_t row = plim_map_get(&search->rows, key);
    if (row == PLIM_MAP_ABSENT) {
        row = search->list.count;
        const anchor fresh = { .key = key,
                               .first = now,
                               .last = now,
                               .event = event,
                               .is_fit =
                                   !has_stacks || is_outside(search->one, events->stack[event]) };
        if (!plim_map_put(&search->rows, key, row) ||
            !PLIM_VEC_PUSH(search->one->mem, &search->list, fresh)) {
            return false;
        }
    }
    anchor *const found = &search->list.items[row];
    found->longest = now - found->last > found->longest ? now - found->last : found->longest;
    found->last = now;
    found->count++;
    return true;
}

/* The anchor of the outermost loop: the rarest that is even enough; NULL: none. */
static const anchor *choose_anchor(const anchor_search *search)
{
    const anchor *best = NULL;
    for (size_t i = 0; i < search->list.count; i++) {
        const anchor *const one = &search->list.items[i];
        if (!one->is_fit || one->count < TURNS_MIN) {
            continue;
        }
        const double span = (double)(one->last - one->first);
        const double average = span / (double)(one->count - 1);
        if (span >= SPAN_MIN * (double)search->requests && average >= 2 &&
            (double)one->longest <= UNEVEN_MAX * average &&
            (best == NULL || one->count < best->count)) {
            best = one;
        }
    }
    return best;
}

static bool is_anchor(const plim_case *one, const anchor *chosen, uint64_t event)
{
    const plim_events *const events = &one->device->events;
    const uint64_t key = one->has_stacks ? events->stack[event] : events->bytes[event] >> 1;
    return events->action[event] == PLIM_ALLOC && key == chosen->key;
}

static bool add_turns(const plim_case *one, const anchor *chosen, plim_turns *turns)
{
    const uint64_t end = (uint64_t)one->passes.last_request + 1;
    for (uint64_t i = chosen->event; i < end; i++) {
        if (is_anchor(one, chosen, i) && !PLIM_VEC_PUSH(one->mem, turns, i)) {
            return false;
        }
    }
    return PLIM_VEC_PUSH(one->mem, turns, end);
}

/* True if a request is what turns are there for: a module's, or, where none is called, at least not
 * an optimizer's, which has a loop over weights of its own. */
static bool is_work(const plim_case *one, uint32_t stack)
{
    const plim_stack_kind kind = plim_stack_kind_of(&one->passes.stacks, stack);
    return one->passes.has_forward
               ? kind == PLIM_STACK_FORWARD
               : kind != PLIM_STACK_OPTIMIZER_STATE && kind != PLIM_STACK_OPTIMIZER_STEP;
}

/* True if a turn does its work and, where no stacks show that, frees something that it made. */
static bool is_turn(const plim_case *one, uint64_t first, uint64_t end)
{
    const uint32_t *const partner = one->view.timeline.start.lifetimes.partner;
    const plim_events *const events = &one->device->events;
    bool works = false;
    bool gives = one->has_stacks;
    for (uint64_t at = first; at < end && !(works && gives); at++) {
        if (events->action[at] == PLIM_ALLOC) {
            works = works || is_work(one, events->stack[at]);
            gives = gives || (partner[at] != PLIM_NONE && partner[at] < end);
        }
    }
    return works && gives;
}

/* True if most turns are: parts of a model that are made one after the other, the layers of a
 * single pass, and a loop over weights are no turns. */
static bool are_turns(const plim_case *one, const plim_turns *turns)
{
    size_t good = 0;
    for (size_t i = 0; i + 1 < turns->count; i++) {
        good += is_turn(one, turns->items[i], turns->items[i + 1]) ? 1u : 0u;
    }
    return (double)good >= TURNS_SHARE * (double)(turns->count - 1);
}

bool plim_turns_find(const plim_case *one, plim_turns *turns)
{
    const plim_events *const events = &one->device->events;
    anchor_search search = { .one = one };
    plim_map_init(&search.rows, one->mem);
    bool is_done = true;
    for (uint64_t i = 0; is_done && i < events->count; i++) {
        const bool is_counted = events->action[i] == PLIM_ALLOC &&
                                (!one->has_stacks || (events->stack[i] != PLIM_NONE &&
                                                      !is_build(one, events->stack[i])));
        is_done = !is_counted || add_request(&search, i);
    }
    const anchor *const chosen = is_done ? choose_anchor(&search) : NULL;
    if (chosen != NULL) {
        is_done = add_turns(one, chosen, turns);
    }
    if (!is_done || (turns->count > 0 && !are_turns(one, turns))) {
        turns->count = 0;
    }
    plim_map_deinit(&search.rows);
    PLIM_VEC_FREE(one->mem, &search.list);
    return is_done;
}

size_t plim_axis_step(const plim_axis *axis, size_t hint, uint64_t event)
{
    while (hint + 1 < axis->count && axis->first_events[hint + 1] <= event) {
        hint++;
    }
    return hint;
}
