/*
 * steps_period.c - steps as what the sequence of requests repeats. See steps.h.
 *
 *   requests   w w w w a b c a b c a b c x a b c a b c
 *   runs                -----------------  -----------    of period 3
 *
 * A request is its size and stream; where these do not repeat (a cache that grows), its stack and
 * stream. Candidates are the distances at which short windows of the sequence come again; of
 * these, the period is the one with the longest unbroken run, the shortest among equals. So the
 * layers of a model, which repeat inside of a step, lose to the step. A period is claimed when
 *
 *   - it holds REQUESTS_MIN requests or more, and not all of them alike,
 *   - its longest run holds three of it, or two that are half of all requests,
 *   - where no stacks distinguish layers from steps, it holds half of all requests,
 *   - half of what it requests is given back inside of the run, or these are layers being made,
 *   - its requests do not all come from inside of one call of a module: then they are layers.
 *
 * Where in the cycle a step begins is a matter of taste; here it is where the least is live.
 */
#include "base/assert.h"
#include "base/hash.h"
#include "base/map.h"
#include "phases/steps.h"

#include <string.h>

#define REQUESTS_MIN   4
#define WINDOW         8  /* requests that are looked up together */
#define CANDIDATES_MAX 32 /* distances that are tried */
#define FEW_PERIODS    3
#define SAMPLED_ABOVE  (UINT64_C(1) << 16) /* requests: then one window in 16 is looked up */

typedef struct sequence {
    const plim_mem *mem;
    uint64_t *symbols;
    uint32_t *events; /* of the device's, of each request */
    uint64_t count;
    bool has_stacks;
} sequence;

typedef struct period_candidate {
    uint64_t period;
    uint64_t weight;
} period_candidate;

/* Requests [first, end) of which each equals the one a period before it, where there is one. */
typedef struct run {
    uint64_t first;
    uint64_t end;
} run;

/* --- the sequence --- */

static uint64_t symbol_of(const plim_events *events, uint64_t event, bool is_by_stack, uint64_t key)
{
    const uint64_t what = is_by_stack ? events->stack[event] : events->bytes[event];
    return plim_hash_u64(what, key) ^ plim_hash_u64(events->stream[event], ~key);
}

static void sequence_deinit(sequence *requests)
{
    plim_mem_free(requests->mem, requests->symbols, requests->count, sizeof(uint64_t));
    plim_mem_free(requests->mem, requests->events, requests->count, sizeof(uint32_t));
}

/*
 * Making the model repeats, too, and is no step. What the engine's thread does in the backward
 * pass repeats layer by layer; where stacks distinguish it from what the program's own thread does,
 * the latter is enough.
 */
static bool is_counted(const plim_steps_search *search, uint64_t event, bool has_stacks)
{
    if (search->events->action[event] != PLIM_ALLOC) {
        return false;
    }
    switch (plim_search_kind(search, event)) {
    case PLIM_STACK_NONE:
    case PLIM_STACK_BACKWARD:
    case PLIM_STACK_RECOMPUTE:
        return !has_stacks;
    case PLIM_STACK_BUILD:
    case PLIM_STACK_USER_INIT:
    case PLIM_STACK_BUCKETS:
    case PLIM_STACK_OPTIMIZER_SETUP:
    case PLIM_STACK_OPTIMIZER_STATE:
        return false;
    case PLIM_STACK_USER:
    case PLIM_STACK_DATA:
    case PLIM_STACK_FORWARD:
    case PLIM_STACK_GRADIENT_TOOLS:
    case PLIM_STACK_ZERO_GRAD:
    case PLIM_STACK_OPTIMIZER_STEP:
        break;
    }
    return true;
}

/* True if one request in ten or more has a stack that says something. */
static bool has_stacks(const plim_steps_search *search)
{
    uint64_t requests = 0;
    uint64_t with_stack = 0;
    for (uint64_t i = 0; i < search->events->count; i++) {
        if (search->events->action[i] == PLIM_ALLOC) {
            requests++;
            with_stack += plim_search_kind(search, i) != PLIM_STACK_NONE ? 1u : 0u;
        }
    }
    return with_stack > 0 && with_stack >= requests / 10;
}

static bool sequence_init(sequence *requests, const plim_steps_search *search, bool is_by_stack)
{
    const plim_events *events = search->events;
    *requests = (sequence){ .mem = search->mem, .has_stacks = has_stacks(search) };
    for (uint64_t i = 0; i < events->count; i++) {
        requests->count += is_counted(search, i, requests->has_stacks) ? 1u : 0u;
    }
    requests->symbols = plim_mem_alloc(search->mem, requests->count, sizeof(uint64_t));
    requests->events = plim_mem_alloc(search->mem, requests->count, sizeof(uint32_t));
    if (requests->count > 0 && (requests->symbols == NULL || requests->events == NULL)) {
        sequence_deinit(requests);
        return false;
    }
    const uint64_t key = plim_hash_key();
    uint64_t at = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        if (is_counted(search, i, requests->has_stacks)) {
            requests->symbols[at] = symbol_of(events, i, is_by_stack, key);
            requests->events[at++] = (uint32_t)i;
        }
    }
    return true;
}

/* --- candidates --- */

static uint64_t window_at(const sequence *requests, uint64_t at)
{
    uint64_t hash = 0;
    for (uint64_t i = 0; i < WINDOW; i++) {
        hash = plim_hash_u64(hash ^ requests->symbols[at + i], 0x9e3779b97f4a7c15u);
    }
    return hash;
}

/* The number of times a distance was met, in `distances`. */
static bool count_distances(const sequence *requests, plim_map *last, plim_map *distances)
{
    for (uint64_t i = 0; i + WINDOW <= requests->count; i++) {
        const uint64_t window = window_at(requests, i);
        if (requests->count > SAMPLED_ABOVE && window % 16 != 0) {
            continue; /* the same windows are left out wherever they come */
        }
        const uint64_t before = plim_map_get(last, window);
        if (before != PLIM_MAP_ABSENT) {
            const uint64_t met = plim_map_get(distances, i - before);
            if (!plim_map_put(distances, i - before, met == PLIM_MAP_ABSENT ? 1 : met + 1)) {
                return false;
            }
        }
        if (!plim_map_put(last, window, i)) {
            return false;
        }
    }
    return true;
}

static bool is_better(const period_candidate *a, const period_candidate *b)
{
    return a->weight != b->weight ? a->weight > b->weight : a->period < b->period;
}

/* Keeps the best in order; the slots of a map come in any. */
static size_t keep_candidate(period_candidate *kept, size_t count, period_candidate one)
{
    size_t at = count;
    while (at > 0 && is_better(&one, &kept[at - 1])) {
        at--;
    }
    if (at == CANDIDATES_MAX) {
        return count;
    }
    const size_t grown = count < CANDIDATES_MAX ? count + 1 : count;
    for (size_t i = grown - 1; i > at; i--) {
        kept[i] = kept[i - 1];
    }
    kept[at] = one;
    return grown;
}

static bool find_candidates(const sequence *requests, period_candidate kept[CANDIDATES_MAX],
                            size_t *ret_count)
{
    plim_map last;
    plim_map distances;
    plim_map_init(&last, requests->mem);
    plim_map_init(&distances, requests->mem);
    const bool is_done = count_distances(requests, &last, &distances);
    *ret_count = 0;
    for (size_t i = 0; is_done && distances.slots != NULL && i <= distances.mask; i++) {
        const plim_map_slot *slot = &distances.slots[i];
        if (slot->value != PLIM_MAP_ABSENT && slot->key >= REQUESTS_MIN) {
            /* What so many repetitions of it would cover. */
            const period_candidate one = { .period = slot->key, .weight = slot->key * slot->value };
            *ret_count = keep_candidate(kept, *ret_count, one);
        }
    }
    plim_map_deinit(&distances);
    plim_map_deinit(&last);
    return is_done;
}

/* --- runs --- */

/* The run that goes on from `at` or later; false: there is no more of two periods or longer. */
static bool next_run(const sequence *requests, uint64_t period, uint64_t at, run *ret_run)
{
    uint64_t same = 0;
    for (uint64_t i = at + period; i < requests->count; i++) {
        if (requests->symbols[i] == requests->symbols[i - period]) {
            same++;
            continue;
        }
        if (same >= period) {
            *ret_run = (run){ .first = i - same - period, .end = i };
            return true;
        }
        same = 0;
    }
    if (same >= period) {
        *ret_run = (run){ .first = requests->count - same - period, .end = requests->count };
    }
    return same >= period;
}

static run longest_run(const sequence *requests, uint64_t period)
{
    run longest = { 0 };
    run one = { 0 };
    for (uint64_t at = 0; next_run(requests, period, at, &one); at = one.end) {
        if (one.end - one.first > longest.end - longest.first) {
            longest = one;
        }
    }
    return longest;
}

/* --- what is claimed --- */

static bool is_uniform(const sequence *requests, run one, uint64_t period)
{
    for (uint64_t i = 1; i < period; i++) {
        if (requests->symbols[one.first + i] != requests->symbols[one.first]) {
            return false;
        }
    }
    return true;
}

/* Sizes are compared in 64 KiB, rounded up: so no sum of them wraps. */
static uint64_t weight_of(const plim_events *events, uint64_t event)
{
    return (events->bytes[event] >> 16) + 1;
}

/* True if the events of a run give back half of what they request, or more. */
static bool gives_back(const plim_steps_search *search, uint64_t first, uint64_t end)
{
    uint64_t taken = 0;
    uint64_t given = 0;
    for (uint64_t i = first; i < end; i++) {
        if (search->events->action[i] == PLIM_ALLOC) {
            taken += weight_of(search->events, i);
        } else if (search->events->action[i] == search->free_action) {
            given += weight_of(search->events, i);
        }
    }
    return given >= taken / 2;
}

/* The outermost Python frames that stacks share; further in, none is looked at. */
typedef struct outer_frames {
    uint32_t frames[64];
    uint32_t count;
    bool is_set;
} outer_frames;

static void share_frames(outer_frames *outer, const plim_stack_kinds *kinds, plim_stack stack)
{
    const uint32_t most =
        outer->is_set ? outer->count : (uint32_t)(sizeof outer->frames / sizeof outer->frames[0]);
    uint32_t shared = 0;
    for (uint32_t i = stack.frame_count; i-- > 0 && shared < most;) {
        if (!plim_frame_is_python(kinds, stack.frames[i])) {
            continue;
        }
        if (outer->is_set && outer->frames[shared] != stack.frames[i]) {
            break;
        }
        outer->frames[shared++] = stack.frames[i];
    }
    outer->count = shared;
    outer->is_set = true;
}

/* True if all requests of a period come from inside of one and the same call of a module. */
static bool is_inside_call(const plim_steps_search *search, const sequence *requests, run one,
                           uint64_t period)
{
    outer_frames outer = { .is_set = false };
    for (uint64_t i = one.first; i < one.first + period; i++) {
        const uint32_t stack = search->events->stack[requests->events[i]];
        const plim_stack frames = plim_history_stack(search->history, stack);
        if (frames.frame_count > 0) {
            share_frames(&outer, &search->kinds, frames);
        }
    }
    for (uint32_t i = 0; i < outer.count; i++) {
        if (plim_frame_is_module_call(&search->kinds, outer.frames[i])) {
            return true;
        }
    }
    return false;
}

static bool is_claimed(const plim_steps_search *search, const sequence *requests, run one,
                       uint64_t period)
{
    const uint64_t length = one.end - one.first;
    const bool is_often =
        length / period >= 3 || (length / period == 2 && length >= requests->count / 2);
    const bool is_most = requests->has_stacks || length >= requests->count / 2;
    if (!is_often || !is_most || is_uniform(requests, one, period)) {
        return false;
    }
    const uint64_t end =
        one.end < requests->count ? requests->events[one.end] : search->events->count;
    return gives_back(search, requests->events[one.first], end) &&
           !is_inside_call(search, requests, one, period);
}

/* The period and its longest run; 0 where none can be claimed. */
static uint64_t choose(const plim_steps_search *search, const sequence *requests,
                       const period_candidate *candidates, size_t count, run *ret_run)
{
    uint64_t chosen = 0;
    *ret_run = (run){ 0 };
    for (size_t i = 0; i < count; i++) {
        const uint64_t period = candidates[i].period;
        const run one = longest_run(requests, period);
        const uint64_t length = one.end - one.first;
        const uint64_t best = ret_run->end - ret_run->first;
        const bool is_longer = length > best || (length == best && period < chosen);
        if (length > 0 && is_longer && is_claimed(search, requests, one, period)) {
            chosen = period;
            *ret_run = one;
        }
    }
    return chosen;
}

/* --- steps --- */

/* The request, of those from `first` to `last`, before which the least is live. */
static uint64_t lowest(const plim_steps_search *search, const sequence *requests, uint64_t first,
                       uint64_t last)
{
    int64_t live = 0;
    int64_t least = 0;
    uint64_t found = first;
    uint64_t at = first;
    for (uint64_t i = requests->events[first]; at <= last; i++) {
        if (search->events->action[i] == search->free_action) {
            live -= (int64_t)weight_of(search->events, i);
        }
        if (i == requests->events[at]) {
            if (live < least) {
                least = live;
                found = at;
            }
            at++;
        }
        if (search->events->action[i] == PLIM_ALLOC) {
            live += (int64_t)weight_of(search->events, i);
        }
    }
    return found;
}

static bool is_window(const sequence *requests, uint64_t a, uint64_t b, uint64_t count)
{
    return memcmp(requests->symbols + a, requests->symbols + b, count * sizeof(uint64_t)) == 0;
}

/*
 * The first step rarely is like the others: workspaces are made, states. It is taken for one when
 * it begins like them, about a period before them. Returns `at` where none is found.
 */
static uint64_t first_step(const sequence *requests, uint64_t at, uint64_t period, uint64_t model)
{
    const uint64_t eighth = period / 8;
    const uint64_t window = eighth < 2 ? 2 : eighth < WINDOW ? eighth : WINDOW;
    const uint64_t furthest = at > 2 * period ? at - 2 * period : 0;
    const uint64_t next = at + period < requests->count ? at + period : requests->count - 1;
    const uint64_t half_step = (requests->events[next] - requests->events[at]) / 2;
    for (uint64_t i = at > period / 2 ? at - period / 2 : 0; i-- > furthest;) {
        if (requests->events[at] - requests->events[i] >= half_step &&
            model + window <= requests->count && is_window(requests, i, model, window)) {
            return i;
        }
    }
    return at;
}

static bool add_start(const plim_steps_search *search, const sequence *requests, uint64_t at,
                      plim_bounds *bounds)
{
    const uint64_t event = at < requests->count ? requests->events[at] : search->events->count;
    return (bounds->count > 0 && bounds->items[bounds->count - 1] >= event) ||
           PLIM_VEC_PUSH(search->mem, bounds, event);
}

/* Adds the steps of a run that begin like the one at `model`. */
static bool add_run(const plim_steps_search *search, const sequence *requests, run one,
                    uint64_t period, uint64_t model, plim_bounds *bounds)
{
    const uint64_t left = requests->count - model;
    const uint64_t window = left < WINDOW ? left : WINDOW;
    uint64_t at = one.first;
    while (at + window <= one.end && at < one.first + period &&
           !is_window(requests, at, model, window)) {
        at++;
    }
    if (at + period > one.end) {
        return true;
    }
    if (bounds->count > 0) {
        bounds->count--; /* where the run before ended: what lies between is of its last step */
    } else if (!add_start(search, requests, first_step(requests, at, period, model), bounds)) {
        return false;
    }
    for (; at + period <= one.end; at += period) {
        if (!add_start(search, requests, at, bounds)) {
            return false;
        }
    }
    return add_start(search, requests, at, bounds);
}

/* The steps of all runs that begin like the one at `model`. */
static bool add_steps(const plim_steps_search *search, const sequence *requests, uint64_t period,
                      uint64_t model, plim_bounds *bounds)
{
    run one = { 0 };
    for (uint64_t at = 0; next_run(requests, period, at, &one); at = one.end) {
        if (!add_run(search, requests, one, period, model, bounds)) {
            return false;
        }
    }
    return true;
}

/*
 * A step begins where the least is live in the last period. In a run of few periods that may cost
 * one at either end: then only those beginnings count that leave its periods whole, if more steps
 * come out.
 */
static bool cut(const plim_steps_search *search, const sequence *requests, uint64_t period,
                run longest, plim_bounds *bounds)
{
    PLIM_ASSERT(period > 0);
    const uint64_t length = longest.end - longest.first;
    const uint64_t model = lowest(search, requests, longest.end - period, longest.end - 1);
    if (!add_steps(search, requests, period, model, bounds)) {
        return false;
    }
    if (length / period > FEW_PERIODS) {
        return true;
    }
    const uint64_t whole = lowest(search, requests, longest.first, longest.first + length % period);
    plim_bounds other = { 0 };
    const bool is_done = add_steps(search, requests, period, whole, &other);
    if (is_done && other.count > bounds->count) {
        const plim_bounds fewer = *bounds;
        *bounds = other;
        other = fewer;
    }
    PLIM_VEC_FREE(search->mem, &other);
    return is_done;
}

static bool search_by(const plim_steps_search *search, bool is_by_stack, plim_bounds *bounds)
{
    sequence requests;
    if (!sequence_init(&requests, search, is_by_stack)) {
        return false;
    }
    period_candidate candidates[CANDIDATES_MAX];
    size_t count = 0;
    bool is_done = true;
    if (!is_by_stack || requests.has_stacks) {
        is_done = find_candidates(&requests, candidates, &count);
    }
    run longest = { 0 };
    const uint64_t period = is_done ? choose(search, &requests, candidates, count, &longest) : 0;
    if (period > 0) {
        is_done = cut(search, &requests, period, longest, bounds);
    }
    sequence_deinit(&requests);
    if (bounds->count < 3) { /* one step does not repeat */
        PLIM_VEC_FREE(search->mem, bounds);
    }
    return is_done;
}

bool plim_steps_from_period(const plim_steps_search *search, plim_bounds *bounds)
{
    if (search->events->count > UINT32_MAX) {
        return true;
    }
    return search_by(search, false, bounds) &&
           (bounds->count > 0 || search_by(search, true, bounds));
}
