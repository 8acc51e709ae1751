/*
 * search.c - which stacks are rehearsed next, until none can be cheaper. See docs/design/fit.md.
 *
 * Best first: of the stacks that are expected to fit, the one that is expected to cost least, and
 * beside it the cheapest that is expected to fit well. A trial sharpens the bounds of all
 * stacks that contain it. The choice hangs on the trials alone, never on who ended first.
 */
#include "fit/search.h"
#include "base/error.h"
#include "base/numbers.h"

#include <math.h>
#include <string.h>

#define DEEP_MAX     3   /* trials beyond the bounds, where nothing within them is left */
#define CLOSER_MAX   4   /* trials of the answer's neighbours */
#define NEAR_MAX     4   /* trials of what bounds leave room for, against expectation */
#define SURE_SHARE   97  /* of a hundred: expected to fit well */
#define CHEAPEST_MAX 32  /* that are kept */
#define APART_SHARE  98  /* of a hundred: what another than the cheapest may take of its memory */
#define HOPE_SHARE   108 /* of a hundred: what expectation may be too much by */
/* Of two costs: what is not much more. */
#define APART_TIMES 1.15

/* ---- keys ------------------------------------------------------------------------------------ */

/* As plim_fit_compare() orders trials. */
typedef struct stack_key {
    int64_t slowdown; /* in hundredths */
    size_t size;
    plim_technique_label label;
    uint64_t likely_bytes;
} stack_key;

static int compare_keys(const stack_key *a, const stack_key *b)
{
    if (a->slowdown != b->slowdown) {
        return a->slowdown < b->slowdown ? -1 : 1;
    }
    if (a->size != b->size) {
        return a->size < b->size ? -1 : 1;
    }
    if (a->label != b->label) {
        return a->label < b->label ? -1 : 1;
    }
    return (a->likely_bytes > b->likely_bytes) - (a->likely_bytes < b->likely_bytes);
}

static stack_key key_of_trial(const plim_fit_search *search, size_t index)
{
    const plim_fit_trial *const trial = &search->trials[index];
    return (stack_key){ llround(trial->slowdown * 100), trial->use_count, trial->label, 0 };
}

/* ---- trials ---------------------------------------------------------------------------------- */

size_t plim_fit_best(const plim_fit_search *search, plim_fit_limit limit)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < search->count; i++) {
        if (plim_fit_is_allowed(search, i) && plim_fit_is_within(search, i, limit) &&
            (best == SIZE_MAX || plim_fit_compare(search, i, best) < 0)) {
            best = i;
        }
    }
    return best;
}

size_t plim_fit_smallest(const plim_fit_search *search)
{
    size_t smallest = 0;
    for (size_t i = 1; i < search->count; i++) {
        const plim_fit_trial *const one = &search->trials[i];
        if (plim_fit_has_answer(search, i) && plim_fit_has_host(search, one->host_bytes) &&
            one->bar.high_bytes < search->trials[smallest].bar.high_bytes) {
            smallest = i;
        }
    }
    return smallest;
}

static bool was_tried(const plim_fit_search *search, const plim_fit_stack *stack)
{
    for (size_t i = 0; i < search->count; i++) {
        if (search->known[i].is_of_space &&
            memcmp(&search->known[i].stack, stack, sizeof(*stack)) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- all stacks ------------------------------------------------------------------------------ */

typedef struct fit_candidate {
    bool is_there;
    stack_key key;
    uint64_t least_bytes;
    plim_fit_stack stack;
} fit_candidate;

typedef struct stack_walk {
    const plim_fit_search *search;
    plim_fit_limit limit;
    bool has_best;
    stack_key best;                  /* of a trial: only cheaper ones count */
    fit_candidate all[CHEAPEST_MAX]; /* of those that are expected to fit, the cheapest first */
    fit_candidate sure;              /* the cheapest that is expected to fit well */
    fit_candidate hopeful;           /* the cheapest that is expected to miss little */
    fit_candidate nearest;           /* to fitting, of those that the bounds leave room for */
    fit_candidate deepest;           /* whatever the bounds say */
} stack_walk;

static void keep_if_less(fit_candidate *to, const fit_candidate *one)
{
    if (!to->is_there || compare_keys(&one->key, &to->key) < 0) {
        *to = *one;
    }
}

static void keep_if_deeper(fit_candidate *to, const fit_candidate *one)
{
    if (!to->is_there || one->key.likely_bytes < to->key.likely_bytes ||
        (one->key.likely_bytes == to->key.likely_bytes && compare_keys(&one->key, &to->key) < 0)) {
        *to = *one;
    }
}

static void keep_in_order(fit_candidate *all, const fit_candidate *one)
{
    fit_candidate last = *one;
    for (size_t i = 0; i < CHEAPEST_MAX && last.is_there; i++) {
        if (!all[i].is_there || compare_keys(&last.key, &all[i].key) < 0) {
            const fit_candidate next = all[i];
            all[i] = last;
            last = next;
        }
    }
}

/* True if a choice of the stack has a better one on its axis, with which the stack would do. */
static bool has_better(const plim_fit_search *search, const plim_fit_stack *stack)
{
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        const uint8_t better = search->space.choices[axis][stack->at[axis]].better;
        plim_fit_stack other = *stack;
        plim_fit_guess guess;
        other.at[axis] = better;
        if (better > 0 && plim_fit_stack_takes(&search->space, stack, axis, better) &&
            plim_fit_guess_at(search, &other, &guess)) {
            return true;
        }
    }
    return false;
}

static void consider(stack_walk *self, const plim_fit_stack *stack)
{
    const plim_fit_search *const search = self->search;
    plim_fit_guess guess;
    if (was_tried(search, stack) || has_better(search, stack) ||
        !plim_fit_guess_at(search, stack, &guess) || !plim_fit_has_host(search, guess.host_bytes)) {
        return;
    }
    const fit_candidate one = {
        .is_there = true,
        .key = { llround(guess.slowdown * 100), plim_fit_stack_size(stack),
                 plim_fit_stack_label(&search->space, stack), guess.likely_bytes },
        .least_bytes = guess.least_bytes,
        .stack = *stack,
    };
    const uint64_t room = plim_minus(self->limit.capacity_bytes, search->margin_bytes);
    const stack_key known = { one.key.slowdown, one.key.size, one.key.label, 0 };
    keep_if_deeper(&self->deepest, &one);
    if ((self->has_best && compare_keys(&known, &self->best) >= 0) || guess.least_bytes > room) {
        return;
    }
    keep_if_deeper(&self->nearest, &one);
    /* Below another limit than the GPU's own memory, all that is cached counts. */
    const bool is_cached = !self->limit.is_own || guess.stuck_bytes > guess.cached_bytes;
    const uint64_t held = is_cached ? guess.cached_bytes : guess.stuck_bytes;
    if (plim_plus(guess.likely_bytes, held) > room) {
        if (plim_plus(guess.likely_bytes, held) <= room / 100 * HOPE_SHARE) {
            keep_if_less(&self->hopeful, &one);
        }
        return;
    }
    keep_in_order(self->all, &one);
    if (plim_plus(guess.likely_bytes, guess.cached_bytes) <= room / 100 * SURE_SHARE) {
        keep_if_less(&self->sure, &one);
    }
}

/* An odometer over the axes. */
static void walk_all(stack_walk *self)
{
    const plim_fit_space *const space = &self->search->space;
    plim_fit_stack stack = { { 0 } };
    for (;;) {
        size_t axis = 0;
        while (axis < PLIM_FIT_AXES) {
            uint8_t next = (uint8_t)(stack.at[axis] + 1);
            stack.at[axis] = 0;
            while (next < space->counts[axis] &&
                   (!space->choices[axis][next].is_open ||
                    !plim_fit_stack_takes(space, &stack, axis, next))) {
                next++;
            }
            if (next < space->counts[axis]) {
                stack.at[axis] = next;
                break;
            }
            axis++;
        }
        if (axis == PLIM_FIT_AXES) {
            return;
        }
        consider(self, &stack);
    }
}

/* ---- closer ---------------------------------------------------------------------------------- */

/* True if a stack that saves more was tried and is beyond the limit. */
static bool is_hopeless(const plim_fit_search *search, const plim_fit_stack *stack,
                        plim_fit_limit limit)
{
    for (size_t i = 0; i < search->count; i++) {
        const plim_fit_known *const known = &search->known[i];
        if (known->is_of_space && known->is_measured && !known->is_bad &&
            (known->is_refuted || !plim_fit_is_within(search, i, limit)) &&
            plim_fit_stack_covers(&search->space, &known->stack, stack)) {
            return true;
        }
    }
    return false;
}

/* True of nothing, and of a choice that `only` and the rehearsals alone leave in. */
static bool is_of_search(const plim_fit_search *search, size_t axis, uint8_t choice)
{
    return choice == 0 || search->space.choices[axis][choice].is_open;
}

/* Of the best trial's neighbours the nearest to fitting, with less on one axis, that is not
 * answered yet, and another than `but` or NULL: whatever the bounds say. */
static fit_candidate find_closer(const plim_fit_search *search, size_t best, plim_fit_limit limit,
                                 const plim_fit_stack *but)
{
    fit_candidate found = { 0 };
    const stack_key now = key_of_trial(search, best);
    for (size_t axis = 0; axis < PLIM_FIT_AXES && search->known[best].is_of_space; axis++) {
        for (uint8_t i = 0; i < search->known[best].stack.at[axis]; i++) {
            plim_fit_stack stack = search->known[best].stack;
            plim_fit_guess guess;
            stack.at[axis] = i;
            if (!is_of_search(search, axis, i) ||
                !plim_fit_stack_covers(&search->space, &search->known[best].stack, &stack) ||
                (but != NULL && memcmp(&stack, but, sizeof(stack)) == 0) ||
                was_tried(search, &stack) || is_hopeless(search, &stack, limit) ||
                !plim_fit_guess_at(search, &stack, &guess)) {
                continue;
            }
            const fit_candidate one = {
                .is_there = true,
                .key = { llround(guess.slowdown * 100), plim_fit_stack_size(&stack),
                         plim_fit_stack_label(&search->space, &stack), 0 },
                .least_bytes = guess.least_bytes,
                .stack = stack,
            };
            /* The nearest to fitting first: an answer there spares the others. */
            if (compare_keys(&one.key, &now) < 0 &&
                (!found.is_there || one.least_bytes < found.least_bytes)) {
                found = one;
            }
        }
    }
    return found;
}

/* ---- the search ------------------------------------------------------------------------------ */

static bool is_another(const fit_candidate *one, const fit_candidate *than)
{
    return one->is_there && memcmp(&one->stack, &than->stack, sizeof(plim_fit_stack)) != 0;
}

/* The cheapest of those that miss little, or the nearest to fitting; NULL: none, or too often. */
static const fit_candidate *choose_near(const stack_walk *self, plim_fit_beyond *made)
{
    const fit_candidate *const near = self->hopeful.is_there ? &self->hopeful : &self->nearest;
    if (!is_another(near, &self->all[0]) || made->near >= NEAR_MAX) {
        return NULL;
    }
    made->near++;
    return near;
}

/* True if it is worth a rehearsal beside the cheapest: before there is any answer, whatever it
 * costs. */
static bool is_worth_being_sure(const stack_walk *self)
{
    return is_another(&self->sure, &self->all[0]) &&
           (!self->has_best ||
            (double)self->sure.key.slowdown <= APART_TIMES * (double)self->all[0].key.slowdown);
}

/* The next that takes less, and is not the cheapest with a trifle changed; the next where all are.
 */
static const fit_candidate *choose_second(const stack_walk *self)
{
    const uint64_t apart = self->all[0].key.likely_bytes / 100 * APART_SHARE;
    for (size_t i = 1; i < CHEAPEST_MAX && self->all[i].is_there; i++) {
        if (self->all[i].key.likely_bytes <= apart) {
            return &self->all[i];
        }
    }
    return &self->all[1];
}

/* True if what misses little by expectation, and might fit, costs much less than what is expected
 * to. */
static bool is_hope_cheap(const stack_walk *self)
{
    return self->hopeful.is_there &&
           APART_TIMES * (double)self->hopeful.key.slowdown <= (double)self->all[0].key.slowdown;
}

/* The cheapest, and beside it the cheapest that surely fits, the second, or one that is near. */
static size_t choose(const stack_walk *self, plim_fit_beyond *made, plim_fit_stack *ret)
{
    const fit_candidate *const first = &self->all[0];
    if (!first->is_there) {
        return 0;
    }
    const fit_candidate *other = is_worth_being_sure(self) ? &self->sure : choose_second(self);
    if (!other->is_there || is_hope_cheap(self)) {
        const fit_candidate *const near = choose_near(self, made);
        other = near != NULL ? near : other;
    }
    ret[0] = first->stack;
    ret[1] = other->stack;
    return other->is_there ? 2 : 1;
}

/* Where nothing is expected to be cheaper, or to fit: what bounds leave room for, then what they do
 * not. Two at a time: the first might spare the second, but a round takes as long as one. */
static size_t choose_beyond(const stack_walk *self, size_t best, plim_fit_beyond *made,
                            plim_fit_stack *ret)
{
    size_t count = 0;
    const fit_candidate *const near = choose_near(self, made);
    if (near != NULL) {
        ret[count++] = near->stack;
        if (is_another(&self->nearest, near) && made->near < NEAR_MAX) {
            made->near++;
            ret[count++] = self->nearest.stack;
        }
    } else if (best == SIZE_MAX && self->deepest.is_there && made->deep < DEEP_MAX) {
        made->deep++;
        ret[count++] = self->deepest.stack;
    }
    fit_candidate one = { .is_there = best != SIZE_MAX };
    while (count < 2 && one.is_there && made->closer < CLOSER_MAX) {
        one = find_closer(self->search, best, self->limit, count > 0 ? &ret[0] : NULL);
        if (one.is_there) {
            made->closer++;
            ret[count++] = one.stack;
        }
    }
    return count;
}

static stack_walk walk_below(const plim_fit_search *search, plim_fit_limit limit, size_t best)
{
    stack_walk self = { .search = search, .limit = limit, .has_best = best != SIZE_MAX };
    if (self.has_best) {
        self.best = key_of_trial(search, best);
    }
    walk_all(&self);
    return self;
}

bool plim_fit_cheaper(const plim_fit_search *search, plim_fit_limit limit, size_t best,
                      plim_fit_stack *ret)
{
    const stack_walk self = walk_below(search, limit, best);
    *ret = self.all[0].stack;
    return self.all[0].is_there;
}

plim_status plim_fit_look(plim_fit_search *search, plim_fit_limit limit, size_t leaves,
                          plim_fit_beyond *made, plim_error *err)
{
    while (plim_fit_may_go_on(search, leaves)) {
        const size_t best = plim_fit_best(search, limit);
        if (best != SIZE_MAX && plim_fit_is_close(search, best, limit)) {
            return PLIM_OK; /* its confirmation shows more than other trials do */
        }
        const stack_walk self = walk_below(search, limit, best);
        plim_fit_stack stacks[2];
        size_t count = choose(&self, made, stacks);
        if (count == 0) {
            count = choose_beyond(&self, best, made, stacks);
        }
        if (count == 0) {
            break;
        }
        const size_t room = search->made_max - leaves - search->made;
        PLIM_TRY(plim_fit_try(search, stacks, count < room ? count : room, err));
    }
    return PLIM_OK;
}
