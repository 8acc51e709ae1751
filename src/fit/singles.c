/*
 * singles.c - each technique alone.
 *
 * Techniques that are free and often find nothing to do are first switched on together: the agent
 * reports of each, so that one rehearsal answers for all that have no effect. Those that took hold
 * are then rehearsed alone, as all others.
 */
#include "base/error.h"
#include "base/numbers.h"
#include "fit/cost.h"
#include "fit/degree.h"
#include "fit/search.h"

#include <stdio.h>
#include <string.h>

/* Names of those that are tried together first. */
static const char *const often_idle[] = { "set_to_none", "inference_mode", "attention", "loss",
                                          "kv",          "empty_cache" };

#define SINGLES_AHEAD  2 /* rounds in one: none of them waits for the slower of two */
#define TOGETHER_LEAST 3 /* fewer are rehearsed alone at once */

/* A saving below this part of the peak, without a gain in time, is not worth a place in stacks. */
#define WORTH_DIVISOR  500
#define WORTH_SLOWDOWN 0.995

/* ---- what a rehearsal says of a choice ------------------------------------------------------- */

static size_t find_single(const plim_fit_search *search, size_t axis, uint8_t choice)
{
    plim_fit_stack stack = { { 0 } };
    stack.at[axis] = choice;
    for (size_t i = 1; i < search->count; i++) {
        if (search->known[i].is_of_space &&
            memcmp(&search->known[i].stack, &stack, sizeof(stack)) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static uint64_t worth_of(const plim_fit_search *search)
{
    return search->known[0].high_bytes / WORTH_DIVISOR;
}

static bool is_worth_it(const plim_fit_search *search, size_t index)
{
    const uint64_t least = worth_of(search);
    bool saves = plim_minus(search->known[0].high_bytes, search->known[index].high_bytes) > least;
    for (size_t i = 0; i < search->phase_count; i++) {
        saves = saves || plim_minus(search->known[0].phase_bytes[i],
                                    search->known[index].phase_bytes[i]) > least;
    }
    return saves || search->trials[index].slowdown < WORTH_SLOWDOWN;
}

/* More pieces cost as the table of typical figures says, in proportion to what two cost. */
static double slowdown_of(const plim_fit_search *search, const plim_fit_choice *base,
                          const plim_fit_choice *choice, double measured)
{
    const char *const texts[] = { base->text, choice->text };
    const plim_fit_cost *const plain = &search->trials[0].cost;
    const double typical = plim_fit_slowdown(plain, NULL, &texts[0], 1) - 1;
    const double wanted = plim_fit_slowdown(plain, NULL, &texts[1], 1) - 1;
    const double part = typical > 0 ? wanted / typical : choice->share / base->share;
    return 1 + (measured - 1) * part;
}

/* Activations of all but one of the pieces. */
static uint64_t without_piece(uint64_t bytes, const plim_fit_choice *pieces)
{
    return plim_whole((double)bytes * (1 - 1 / plim_fit_pieces(pieces->text)));
}

/*
 * K pieces of a batch leave a K-th of the activations A, beside the gradients G of the first:
 *
 *     program S + A, in K pieces S + G + A / K, at the end of a step S + G
 *
 * so that A is K times what the pieces have beyond the end. If that is not known, G counts as 0.
 */
static void learn_activations(plim_fit_search *search, const plim_fit_choice *base,
                              const plim_fit_known *pieces)
{
    const double count = plim_fit_pieces(base->text);
    for (size_t phase = 0; phase < search->phase_count; phase++) {
        const uint64_t all = search->known[0].phase_bytes[phase];
        const uint64_t saved = plim_minus(all, pieces->phase_bytes[phase]);
        const uint64_t beyond = plim_minus(pieces->phase_bytes[phase], pieces->end_bytes);
        if (saved > 0) {
            const uint64_t least = plim_whole((double)saved / (count - 1));
            const uint64_t piece = pieces->end_bytes > 0 ? plim_max(beyond, least) : least;
            const double wanted = (double)piece * count;
            search->activation_bytes[phase] = wanted < (double)all ? plim_whole(wanted) : all;
            search->gradient_bytes[phase] =
                plim_minus(without_piece(search->activation_bytes[phase], base), saved);
        }
    }
}

/* Of pieces: as many take as much of the activations away, and gradients come once. */
static uint64_t saved_in(const plim_fit_search *search, size_t axis, const plim_fit_choice *choice,
                         size_t phase, uint64_t measured)
{
    if (!search->space.is_graded[axis] || measured == 0) {
        const double alone = search->space.choices[axis][choice->alone].share;
        return plim_whole((double)measured * choice->share / alone);
    }
    return plim_minus(without_piece(search->activation_bytes[phase], choice),
                      search->gradient_bytes[phase]);
}

/* A batch of eight rows has no sixteen pieces. */
static bool has_rows(const plim_fit_search *search, size_t axis, const plim_fit_choice *choice)
{
    return !search->space.is_graded[axis] || search->batch_rows == 0 ||
           plim_fit_pieces(choice->text) < (double)search->batch_rows + 0.5;
}

static void learn_choice(plim_fit_search *search, size_t axis, uint8_t i)
{
    plim_fit_choice *const choice = &search->space.choices[axis][i];
    const plim_fit_choice *const base = &search->space.choices[axis][choice->alone];
    const size_t index = find_single(search, axis, choice->alone);
    choice->is_open = choice->is_open && index != SIZE_MAX && plim_fit_has_answer(search, index) &&
                      is_worth_it(search, index) && has_rows(search, axis, choice);
    if (!choice->is_open) {
        return;
    }
    if (search->space.is_graded[axis] && choice == base) {
        learn_activations(search, base, &search->known[index]);
    }
    const double measured = search->trials[index].slowdown;
    choice->host_bytes = plim_minus(search->trials[index].host_bytes, search->trials[0].host_bytes);
    choice->slowdown = choice == base ? measured : slowdown_of(search, base, choice, measured);
    if (search->known[index].end_bytes > 0) {
        choice->saved_end_bytes =
            plim_minus(search->known[0].end_bytes, search->known[index].end_bytes);
    }
    for (size_t phase = 0; phase < search->phase_count; phase++) {
        const uint64_t saved = plim_minus(search->known[0].phase_bytes[phase],
                                          search->known[index].phase_bytes[phase]);
        choice->saved_bytes[phase] = saved_in(search, axis, choice, phase, saved);
    }
}

/* True if alone `one` saved as much as `than`, but for what is not worth a place, and cost less. */
static bool is_better(const plim_fit_search *search, size_t axis, uint8_t one, uint8_t than)
{
    const plim_fit_choice *const a = &search->space.choices[axis][one];
    const plim_fit_choice *const b = &search->space.choices[axis][than];
    const uint64_t least = worth_of(search);
    bool saves = plim_plus(a->saved_end_bytes, least) >= b->saved_end_bytes;
    for (size_t phase = 0; phase < search->phase_count; phase++) {
        saves = saves && plim_plus(a->saved_bytes[phase], least) >= b->saved_bytes[phase];
    }
    return saves && a->slowdown < b->slowdown && a->technique->label <= b->technique->label &&
           a->host_bytes <= b->host_bytes;
}

static void find_better(plim_fit_search *search, size_t axis, uint8_t i)
{
    plim_fit_choice *const choices = search->space.choices[axis];
    for (uint8_t j = 1; j < search->space.counts[axis] && choices[i].is_open; j++) {
        if (choices[j].is_open && is_better(search, axis, j, i)) {
            choices[i].better = j;
            return;
        }
    }
}

/* ---- together -------------------------------------------------------------------------------- */

static bool is_often_idle(const char *text)
{
    const size_t length = strcspn(text, "=");
    for (size_t i = 0; i < sizeof(often_idle) / sizeof(often_idle[0]); i++) {
        if (strlen(often_idle[i]) == length && strncmp(often_idle[i], text, length) == 0) {
            return true;
        }
    }
    return false;
}

static plim_fit_stack stack_of_idle(const plim_fit_search *search)
{
    plim_fit_stack stack = { { 0 } };
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        const plim_fit_choice *const first = &search->space.choices[axis][1];
        if (first->is_open && is_often_idle(first->text) &&
            plim_fit_stack_takes(&search->space, &stack, axis, 1)) {
            stack.at[axis] = 1;
        }
    }
    return stack;
}

/* Of a rehearsal with several: those that took hold are its stack, the others have an answer. */
static plim_status sort_together(plim_fit_search *search, plim_fit_stack together,
                                 plim_fit_sample *sample, plim_error *err)
{
    plim_fit_stack applied = { { 0 } };
    size_t kept = 0;
    size_t read = 0;
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        if (together.at[axis] == 0 || read >= sample->report_count) {
            continue;
        }
        const plim_fit_report report = sample->reports[read++];
        if (strcmp(report.state, "applied") == 0) {
            applied.at[axis] = together.at[axis];
            sample->reports[kept++] = report;
            continue;
        }
        plim_fit_stack alone = { { 0 } };
        alone.at[axis] = together.at[axis];
        const bool is_refused = strcmp(report.state, "refused") == 0;
        const char *const reason =
            report.text[0] != '\0' ? report.text : "what it works on never came";
        PLIM_TRY(plim_fit_record_predicted(
            search, &alone, is_refused ? PLIM_FIT_REFUSED : PLIM_FIT_NO_EFFECT, reason, err));
    }
    sample->report_count = kept;
    char lines[PLIM_FIT_LINES_BYTES];
    plim_fit_stack_write(&search->space, &applied, '\n', lines, sizeof(lines));
    return kept == 0 ? PLIM_OK : plim_fit_record(search, sample, &applied, lines, false, err);
}

/* ---- alone ----------------------------------------------------------------------------------- */

/* Free ones before cheap before dear; those that change the result last. */
static int rank_of(const plim_fit_choice *choice)
{
    return (choice->technique->label == PLIM_TECHNIQUE_CHANGED) * 3 + (int)choice->technique->tier;
}

/* Up to `most` choices of the lowest rank that were not rehearsed. */
static size_t choose(const plim_fit_search *search, size_t most, plim_fit_stack *ret)
{
    size_t count = 0;
    for (int rank = 0; rank < 6 && count < most; rank++) {
        for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
            for (uint8_t i = 1; i < search->space.counts[axis] && count < most; i++) {
                const plim_fit_choice *const choice = &search->space.choices[axis][i];
                if (choice->is_open && choice->alone == i && rank_of(choice) == rank &&
                    find_single(search, axis, i) == SIZE_MAX) {
                    ret[count] = (plim_fit_stack){ { 0 } };
                    ret[count++].at[axis] = i;
                }
            }
        }
    }
    return count;
}

static size_t parallel_of(const plim_fit_search *search)
{
    const size_t parallel = search->options->parallel > 0 ? search->options->parallel : 2;
    const size_t most = parallel * SINGLES_AHEAD;
    return most < PLIM_FIT_ROUND_MAX ? most : PLIM_FIT_ROUND_MAX;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Techniques of a stack wait: a round that tries it answers for them. */
static size_t choose_beside(const plim_fit_search *search, const plim_fit_stack *together,
                            size_t most, plim_fit_stack *ret)
{
    plim_fit_stack all[PLIM_FIT_AXES * PLIM_FIT_CHOICES];
    const size_t found = choose(search, sizeof(all) / sizeof(all[0]), all);
    size_t count = 0;
    for (size_t i = 0; i < found && count < most; i++) {
        if (!plim_fit_stack_covers(&search->space, together, &all[i])) {
            ret[count++] = all[i];
        }
    }
    return count;
}

/* Nothing is recorded where the program failed with all: which one it was is then found alone. */
static plim_status take_together(plim_fit_search *search, plim_fit_stack stack,
                                 plim_fit_sample *sample, plim_error *err)
{
    const bool is_whole =
        sample->report_count == plim_fit_stack_size(&stack) && !plim_fit_sample_failed(sample);
    return is_whole ? sort_together(search, stack, sample, err) : PLIM_OK;
}

/* The first round: several together, and beside them others alone. */
static plim_status try_together(plim_fit_search *search, size_t most, plim_error *err)
{
    const bool has_always = search->options->rehearse.techniques != NULL &&
                            search->options->rehearse.techniques[0] != '\0';
    plim_fit_stack stacks[PLIM_FIT_ROUND_MAX] = { stack_of_idle(search) };
    if (plim_fit_stack_size(&stacks[0]) < TOGETHER_LEAST || has_always || most == 0) {
        return PLIM_OK;
    }
    const size_t count = 1 + choose_beside(search, &stacks[0], most - 1, &stacks[1]);
    PLIM_TRY(plim_fit_run_stacks(search, stacks, count, err));
    PLIM_TRY(take_together(search, stacks[0], &search->samples[0], err));
    return plim_fit_record_stacks(search, &stacks[1], &search->samples[1], count - 1, err);
}

/* Rehearsals that a round may have. */
static size_t room_for(plim_fit_search *search)
{
    const size_t most = parallel_of(search);
    const size_t room = plim_fit_may_go_on(search, PLIM_FIT_LEAVES)
                            ? search->made_max - PLIM_FIT_LEAVES - search->made
                            : 0;
    return most < room ? most : room;
}

plim_status plim_fit_singles(plim_fit_search *search, plim_error *err)
{
    plim_fit_stack stacks[PLIM_FIT_ROUND_MAX];
    PLIM_TRY(try_together(search, room_for(search), err));
    for (;;) {
        const size_t count = choose(search, room_for(search), stacks);
        if (count == 0) {
            break;
        }
        PLIM_TRY(plim_fit_try(search, stacks, count, err));
    }
    memcpy(search->activation_bytes, search->known[0].phase_bytes,
           sizeof(search->activation_bytes));
    for (size_t axis = 0; axis < PLIM_FIT_AXES; axis++) {
        for (uint8_t i = 1; i < search->space.counts[axis]; i++) {
            learn_choice(search, axis, i);
        }
        for (uint8_t i = 1; i < search->space.counts[axis]; i++) {
            find_better(search, axis, i);
        }
    }
    return PLIM_OK;
}

/* ---- stacks that the caller names ------------------------------------------------------------ */

static size_t find_stack(const plim_fit_search *search, const plim_fit_stack *stack)
{
    for (size_t i = 0; i < search->count; i++) {
        if (search->known[i].is_of_space && !search->trials[i].is_predicted &&
            memcmp(&search->known[i].stack, stack, sizeof(*stack)) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static plim_status try_also(plim_fit_search *search, const char *line, plim_error *err)
{
    char lines[PLIM_FIT_LINES_BYTES];
    plim_fit_stack stack;
    const bool is_of_space = plim_fit_stack_read(&search->space, line, &stack);
    const size_t same = is_of_space ? find_stack(search, &stack) : SIZE_MAX;
    if (same != SIZE_MAX) {
        search->trials[same].is_also = true;
        return PLIM_OK;
    }
    (void)snprintf(lines, sizeof(lines), "%s", line);
    for (char *at = lines; *at != '\0'; at++) {
        *at = *at == ' ' ? '\n' : *at;
    }
    plim_fit_request request;
    PLIM_TRY(plim_fit_request_make(search, lines, search->far_bytes, &request, err));
    PLIM_TRY(plim_fit_run(search, &request, 1, err));
    return plim_fit_record(search, &search->samples[0], is_of_space ? &stack : NULL, lines, true,
                           err);
}

plim_status plim_fit_also(plim_fit_search *search, plim_error *err)
{
    char line[PLIM_FIT_LINES_BYTES];
    const char *lines = search->options->also;
    while (lines != NULL && lines[0] != '\0' && plim_fit_may_go_on(search, PLIM_FIT_LEAVES)) {
        const size_t length = strcspn(lines, "\n");
        (void)snprintf(line, sizeof(line), "%.*s", (int)length, lines);
        lines += length + (lines[length] == '\n');
        PLIM_TRY(try_also(search, line, err));
    }
    return PLIM_OK;
}
