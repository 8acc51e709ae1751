/*
 * steps_backward.c - steps by calls of backward. See steps.h.
 *
 *   calls      D D D D D G D D D D D G D D D D D G       lines of the program that call backward
 *   head                 |           |           |       the rarest that comes all along
 *   steps    (---------- | --------- | --------- |
 *
 * Where several lines call backward (a critic and a generator) a step is the smallest unit that has
 * one of each, and ends with the head's. Lines that follow one another in the program (two loops)
 * are no unit: then each call is a step.
 */
#include "phases/steps.h"

#include "base/map.h"

#include <stdlib.h>

/* Fewer calls repeat nothing. */
#define CALLS_MIN 3
/* A line that is rarer than this share of the most frequent one (a penalty every sixteenth step) is
 * no part of each step. */
#define RARE_SHARE 8
/* The head comes all along where no gap is longer than this many median ones. */
#define GAP_FACTOR 2.5
/* Steps whose numbers of calls are the same, in this share of them, are regular. */
#define REGULAR_SHARE 0.9

/* One line that calls backward. */
typedef struct backward_line {
    uint32_t frame;
    uint64_t calls;
    size_t first; /* call */
} backward_line;

typedef PLIM_VEC(plim_backward_call) backward_calls;

/* --- calls --- */

/* Requests of one call follow each other; a forward pass or the program's own lie between two. */
static bool collect(const plim_steps_search *search, backward_calls *calls)
{
    const plim_events *const events = search->events;
    bool is_apart = true;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] != PLIM_ALLOC) {
            continue;
        }
        const plim_stack_kind kind = plim_search_kind(search, i);
        if (kind != PLIM_STACK_BACKWARD) {
            is_apart = is_apart || kind == PLIM_STACK_FORWARD || kind == PLIM_STACK_USER ||
                       kind == PLIM_STACK_DATA;
            continue;
        }
        const plim_backward_call call = {
            .event = i,
            .frame = plim_backward_line(&search->kinds,
                                        plim_history_stack(search->history, events->stack[i])),
        };
        if (call.frame == PLIM_NONE) {
            continue;
        }
        const bool is_same =
            !is_apart && calls->count > 0 && calls->items[calls->count - 1].frame == call.frame;
        if (!is_same && !PLIM_VEC_PUSH(search->mem, calls, call)) {
            return false;
        }
        is_apart = false;
    }
    return true;
}

/* --- the head --- */

static int compare_gaps(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left;
    const size_t b = *(const size_t *)right;
    return (a > b) - (a < b);
}

/* True if a line's calls come all along, as far as `gaps` (room for count + 1) show. */
static bool comes_all_along(const backward_calls *calls, uint32_t frame, size_t *gaps)
{
    size_t count = 0;
    size_t last = 0;
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->items[i].frame == frame) {
            gaps[count++] = i + 1 - last;
            last = i + 1;
        }
    }
    gaps[count++] = calls->count + 1 - last;
    qsort(gaps, count, sizeof *gaps, compare_gaps);
    const size_t middle = count / 2;
    return (double)gaps[count - 1] <= GAP_FACTOR * (double)gaps[middle];
}

static bool count_lines(const plim_steps_search *search, const backward_calls *calls,
                        backward_line **ret_lines, size_t *ret_count)
{
    PLIM_VEC(backward_line) lines = { 0 };
    plim_map at;
    plim_map_init(&at, search->mem);
    bool is_done = true;
    for (size_t i = 0; i < calls->count && is_done; i++) {
        uint64_t line = plim_map_get(&at, calls->items[i].frame);
        if (line == PLIM_MAP_ABSENT) {
            const backward_line fresh = { .frame = calls->items[i].frame, .first = i };
            line = lines.count;
            is_done = PLIM_VEC_PUSH(search->mem, &lines, fresh) &&
                      plim_map_put(&at, calls->items[i].frame, line);
        }
        if (is_done && line < lines.count) {
            lines.items[line].calls++;
        }
    }
    plim_map_deinit(&at);
    if (is_done && lines.count > 0) {
        backward_line *const fitted = plim_mem_alloc(search->mem, lines.count, sizeof *fitted);
        is_done = fitted != NULL;
        for (size_t i = 0; is_done && i < lines.count; i++) {
            fitted[i] = lines.items[i];
        }
        *ret_lines = fitted;
        *ret_count = is_done ? lines.count : 0;
    }
    PLIM_VEC_FREE(search->mem, &lines);
    return is_done;
}

/* The rarest line that is not too rare; of those alike, the one that comes first last. */
static uint32_t rarest(const backward_line *lines, size_t count)
{
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        most = lines[i].calls > most ? lines[i].calls : most;
    }
    const backward_line *found = NULL;
    for (size_t i = 0; i < count; i++) {
        const backward_line *const one = &lines[i];
        if (one->calls < CALLS_MIN || one->calls < most / RARE_SHARE) {
            continue;
        }
        const bool is_alike = found != NULL && one->calls <= found->calls + 1;
        if (found == NULL || one->calls + 1 < found->calls ||
            (is_alike && one->first > found->first)) {
            found = one;
        }
    }
    return found != NULL ? found->frame : PLIM_NONE;
}

/* The line with whose calls steps end; PLIM_NONE: with all, or no line calls. */
static bool find_head(const plim_steps_search *search, const backward_calls *calls,
                      uint32_t *ret_frame)
{
    backward_line *lines = NULL;
    size_t count = 0;
    *ret_frame = PLIM_NONE;
    if (!count_lines(search, calls, &lines, &count)) {
        return false;
    }
    bool is_done = true;
    if (count > 1) {
        const uint32_t frame = rarest(lines, count);
        size_t *const gaps = plim_mem_alloc(search->mem, calls->count + 1, sizeof *gaps);
        is_done = gaps != NULL;
        if (is_done && frame != PLIM_NONE && comes_all_along(calls, frame, gaps)) {
            *ret_frame = frame;
        }
        plim_mem_free(search->mem, gaps, calls->count + 1, sizeof *gaps);
    }
    plim_mem_free(search->mem, lines, count, sizeof *lines);
    return is_done;
}

bool plim_backward_calls_find(const plim_steps_search *search, plim_backward_calls *ret_calls)
{
    *ret_calls = (plim_backward_calls){ .head = PLIM_NONE };
    backward_calls calls = { 0 };
    bool is_done = collect(search, &calls) && find_head(search, &calls, &ret_calls->head);
    ret_calls->items = calls.items;
    ret_calls->count = calls.count;
    ret_calls->capacity = calls.capacity;
    if (!is_done) {
        plim_backward_calls_deinit(search, ret_calls);
    }
    return is_done;
}

void plim_backward_calls_deinit(const plim_steps_search *search, plim_backward_calls *calls)
{
    plim_mem_free(search->mem, calls->items, calls->capacity, sizeof *calls->items);
    *calls = (plim_backward_calls){ .head = PLIM_NONE };
}

/* --- steps --- */

static bool ends_step(const plim_backward_calls *calls, size_t call)
{
    return calls->head == PLIM_NONE || calls->items[call].frame == calls->head;
}

/* Steps that end without a call of the head are joined with the next one that has it. */
void plim_steps_join(const plim_backward_calls *calls, plim_bounds *bounds)
{
    if (calls->head == PLIM_NONE || bounds->count < 2) {
        return;
    }
    size_t call = 0;
    size_t kept = 1;
    for (size_t i = 1; i < bounds->count; i++) {
        bool has_head = i + 1 == bounds->count;
        for (; call < calls->count && calls->items[call].event < bounds->items[i]; call++) {
            has_head = has_head || (calls->items[call].frame == calls->head &&
                                    calls->items[call].event >= bounds->items[i - 1]);
        }
        if (has_head) {
            bounds->items[kept++] = bounds->items[i];
        }
    }
    bounds->count = kept;
}

/* True if steps have one number of calls, and most calls lie in steps: then they are what they say.
 */
bool plim_steps_are_regular(const plim_backward_calls *calls, const plim_bounds *bounds)
{
    if (bounds->count < 2 || calls->count < CALLS_MIN) {
        return true;
    }
    size_t call = 0;
    while (call < calls->count && calls->items[call].event < bounds->items[0]) {
        call++;
    }
    const size_t first = call;
    uint64_t alike = 0;
    uint64_t usual = 0; /* calls in the step before */
    for (size_t i = 1; i < bounds->count; i++) {
        uint64_t now = 0;
        for (; call < calls->count && calls->items[call].event < bounds->items[i]; call++) {
            now += ends_step(calls, call) ? 1u : 0u;
        }
        alike += i > 1 && now == usual ? 1u : 0u;
        usual = now;
    }
    return (double)alike >= REGULAR_SHARE * ((double)bounds->count - 2) &&
           call - first >= calls->count / 2;
}

/* The next request that begins something: not the optimizer's, not of the engine's thread. */
static uint64_t next_turn(const plim_steps_search *search, uint64_t event)
{
    for (; event < search->events->count; event++) {
        const plim_stack_kind kind = plim_search_kind(search, event);
        if (search->events->action[event] == PLIM_ALLOC &&
            (kind == PLIM_STACK_FORWARD || kind == PLIM_STACK_USER || kind == PLIM_STACK_DATA)) {
            break;
        }
    }
    return event;
}

bool plim_steps_from_backward(const plim_steps_search *search, const plim_backward_calls *calls,
                              plim_bounds *bounds)
{
    for (size_t i = 0; i < calls->count; i++) {
        if (!ends_step(calls, i)) {
            continue;
        }
        const uint64_t end = next_turn(search, calls->items[i].event + 1);
        if (end == search->events->count) {
            break; /* the recording ends in it */
        }
        if ((bounds->count == 0 || bounds->items[bounds->count - 1] < end) &&
            !PLIM_VEC_PUSH(search->mem, bounds, end)) {
            return false;
        }
    }
    if (bounds->count < CALLS_MIN) {
        PLIM_VEC_FREE(search->mem, bounds);
        return true;
    }
    return plim_steps_from_ends(search, bounds);
}
