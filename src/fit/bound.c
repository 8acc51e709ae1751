/*
 * bound.c - what the trials say of a stack that was not rehearsed.
 *
 * A technique saves at most what it saved alone, phase by phase: together with others it finds less
 * to save. So each trial T whose techniques are part of a stack S bounds it,
 *
 *     phase of S >= phase of T - sum of what S has beyond T, as it saved alone
 *
 * and the largest bound counts. What a technique saves of all that stays from step to step, as
 * gradients, a phase may show when its activations are smaller, though it did not alone.
 *
 * That is no theorem (a technique may lower a second peak of a phase
 * that alone was hidden by a first): search.c looks beyond it where nothing else is left. What is
 * expected is more: techniques that make the same activations smaller multiply.
 */
#include "base/numbers.h"
#include "fit/degree.h"
#include "fit/search.h"

#include <math.h>

/* Of choices that were not rehearsed, the one that stands for them says it. */
static uint64_t saved_by(const plim_fit_space *space, size_t axis, uint8_t choice, size_t phase)
{
    const plim_fit_choice *const one = &space->choices[axis][choice];
    return choice == 0 ? 0 : one->saved_bytes[phase];
}

/* Of what stays from step to step. */
static uint64_t stays_by(const plim_fit_space *space, size_t axis, uint8_t choice)
{
    return choice == 0 ? 0 : space->choices[axis][choice].saved_end_bytes;
}

static uint64_t bound_of_phase(const plim_fit_search *search, const plim_fit_known *known,
                               const plim_fit_stack *stack, size_t phase)
{
    uint64_t bytes = known->phase_bytes[phase];
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        if (stack->at[axis] != known->stack.at[axis]) {
            const uint64_t more = plim_max(saved_by(&search->space, axis, stack->at[axis], phase),
                                           stays_by(&search->space, axis, stack->at[axis]));
            const uint64_t had = saved_by(&search->space, axis, known->stack.at[axis], phase);
            bytes = plim_minus(bytes, plim_minus(more, had));
        }
    }
    return bytes;
}

/*
 * Bytes of a phase that a stack saves, by parts: pieces are taken away from the activations, the
 * rest is made smaller, and of several pieces of a batch one is there, beside gradients.
 */
static double saved_by_parts(const plim_fit_search *search, const plim_fit_stack *stack,
                             size_t phase)
{
    const plim_fit_space *const space = &search->space;
    const double activations = (double)search->activation_bytes[phase];
    double pieces = 1;
    double whole = 1;
    double elsewhere = 0;
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        const double saved = (double)saved_by(space, axis, stack->at[axis], phase);
        const double share = activations > 0 ? saved / activations : 0;
        if (space->is_graded[axis] && saved > 0) {
            whole /= plim_fit_pieces(space->choices[axis][stack->at[axis]].text);
            elsewhere -= (double)search->gradient_bytes[phase];
            continue;
        }
        switch (space->parts[axis]) {
        case PLIM_FIT_OF_WHOLE:
            whole *= share < 1 ? 1 - share : 0;
            break;
        case PLIM_FIT_OF_PIECE:
            pieces -= share;
            break;
        case PLIM_FIT_OF_NOTHING:
            elsewhere += saved;
            break;
        }
    }
    return activations * (1 - whole * (pieces > 0 ? pieces : 0)) + elsewhere;
}

/* True if the stack saves what stays in a way that the trial has not, and alone a phase did not
 * show. */
static bool may_show_more(const plim_fit_search *search, const plim_fit_known *known,
                          const plim_fit_stack *stack, size_t phase)
{
    bool may = false;
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        const uint8_t choice = stack->at[axis];
        may = may || (choice != known->stack.at[axis] &&
                      stays_by(&search->space, axis, choice) >
                          saved_by(&search->space, axis, choice, phase));
    }
    return may;
}

static uint64_t likely_from(const plim_fit_search *search, const plim_fit_known *known,
                            const plim_fit_stack *stack, size_t phase)
{
    const double more =
        saved_by_parts(search, stack, phase) - saved_by_parts(search, &known->stack, phase);
    return plim_whole((double)known->phase_bytes[phase] - more);
}

/* From the trial that is nearest, unless the program as it is lets more be hoped for. */
static uint64_t likely_of_phase(const plim_fit_search *search, const plim_fit_known *known,
                                const plim_fit_stack *stack, size_t phase)
{
    const uint64_t likely = likely_from(search, known, stack, phase);
    return may_show_more(search, known, stack, phase)
               ? plim_min(likely, likely_from(search, &search->known[0], stack, phase))
               : likely;
}

static double slowdown_from(const plim_fit_search *search, size_t from, const plim_fit_stack *stack)
{
    const plim_fit_known *const known = &search->known[from];
    double slowdown = search->trials[from].slowdown;
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        if (stack->at[axis] != known->stack.at[axis]) {
            const plim_fit_choice *const choices = search->space.choices[axis];
            const uint8_t had = known->stack.at[axis];
            slowdown *= choices[stack->at[axis]].slowdown / (had > 0 ? choices[had].slowdown : 1);
        }
    }
    return slowdown;
}

/* Techniques of a stack, then their degrees: more is nearer to one that covers it. */
static size_t reach_of(const plim_fit_stack *stack)
{
    size_t degrees = 0;
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        degrees += stack->at[axis];
    }
    return plim_fit_stack_size(stack) * PLIM_FIT_AXES * PLIM_FIT_CHOICES + degrees;
}

/* The trial with the most of the stack's techniques, and of their degrees; the first of them. The
 * plain one has none. */
static size_t nearest(const plim_fit_search *search, const plim_fit_stack *stack)
{
    size_t found = 0;
    size_t most = 0;
    for (size_t i = 1; i < search->count; i++) {
        const plim_fit_known *const known = &search->known[i];
        const size_t reach = reach_of(&known->stack);
        if (known->is_of_space && known->is_measured && !known->is_bad && reach > most &&
            plim_fit_stack_covers(&search->space, stack, &known->stack)) {
            found = i;
            most = reach;
        }
    }
    return found;
}

double plim_fit_guess_slowdown(const plim_fit_search *search, const plim_fit_stack *stack)
{
    return slowdown_from(search, nearest(search, stack), stack);
}

/* States of an optimizer are on the host as a whole; activations by pieces of a batch, and in
 * half of the bytes where they are in sixteen bits. */
static uint64_t host_of(const plim_fit_search *search, const plim_fit_stack *stack)
{
    const plim_fit_space *const space = &search->space;
    double whole = (double)search->trials[0].host_bytes;
    double activations = 0;
    double divisor = 1;
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        const plim_fit_choice *const one = &space->choices[axis][stack->at[axis]];
        if (stack->at[axis] == 0) {
            continue;
        }
        *(space->parts[axis] == PLIM_FIT_OF_NOTHING ? &whole : &activations) +=
            (double)one->host_bytes;
        if (space->parts[axis] == PLIM_FIT_OF_WHOLE) {
            divisor *= space->is_graded[axis] ? plim_fit_pieces(one->text) : 2;
        }
    }
    return plim_whole(whole + activations / divisor);
}

static uint64_t stuck_of(const plim_fit_search *search, const plim_fit_stack *stack)
{
    bool is_expandable = false;
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        is_expandable = is_expandable ||
                        plim_fit_is_expandable(search->space.choices[axis][stack->at[axis]].text);
    }
    return search->stuck_bytes[is_expandable];
}

bool plim_fit_guess_at(const plim_fit_search *search, const plim_fit_stack *stack,
                       plim_fit_guess *ret)
{
    const size_t from = nearest(search, stack);
    const plim_fit_known *const near = &search->known[from];
    uint64_t least = 0;
    uint64_t likely = 0;
    for (size_t i = 0; i < search->count; i++) {
        const plim_fit_known *const known = &search->known[i];
        if (!known->is_of_space || !plim_fit_stack_covers(&search->space, stack, &known->stack)) {
            continue;
        }
        if (known->is_bad) {
            return false;
        }
        for (size_t phase = 0; known->is_measured && phase < search->phase_count; phase++) {
            least = plim_max(least, bound_of_phase(search, known, stack, phase));
        }
    }
    for (size_t phase = 0; phase < search->phase_count; phase++) {
        likely = plim_max(likely, likely_of_phase(search, near, stack, phase));
    }
    ret->least_bytes = plim_plus(least, near->beside_bytes);
    ret->likely_bytes = plim_max(plim_plus(likely, near->beside_bytes), ret->least_bytes);
    ret->cached_bytes =
        plim_minus(near->high_bytes, plim_plus(near->allocated_bytes, near->beside_bytes));
    ret->stuck_bytes = stuck_of(search, stack);
    ret->host_bytes = host_of(search, stack);
    ret->slowdown = slowdown_from(search, from, stack);
    return true;
}
