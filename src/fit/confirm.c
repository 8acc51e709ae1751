/*
 * confirm.c - the answers, rehearsed once more with the GPU's own memory.
 */
#include "base/error.h"
#include "base/numbers.h"
#include "fit/search.h"

/* Of the GPU's memory: stacks that differ by less share the fate of a confirmation. */
#define TRIFLE_DIVISOR 50

/* Memory, or something else that came to the rehearsal. */
static plim_status set_why_not(plim_fit_search *search, const plim_fit_sample *sample,
                               plim_fit_trial *trial, plim_error *err)
{
    const bool has_verdict = sample->is_done && sample->status == PLIM_OK;
    if (has_verdict && sample->verdict == PLIM_REHEARSED_OUT_OF_MEMORY) {
        trial->reason = "with the GPU's own memory it ran out";
        return PLIM_OK;
    }
    if (has_verdict && sample->verdict == PLIM_REHEARSED_TIGHT) {
        trial->reason = "with the GPU's own memory it may run out: the error bar ends beyond it";
        return PLIM_OK;
    }
    trial->answer = PLIM_FIT_UNKNOWN;
    const char *const why = sample->reason[0] != '\0' ? sample->reason : sample->error;
    trial->reason = plim_fit_keep(search, why[0] != '\0' ? why : "its confirmation ended early");
    return trial->reason != NULL ? PLIM_OK : plim_fail_memory(err, "confirming a trial");
}

/* Takes what the rehearsal with the GPU's own memory said of a trial. */
static plim_status take(plim_fit_search *search, size_t index, const plim_fit_sample *sample,
                        plim_error *err)
{
    plim_fit_trial *const trial = &search->trials[index];
    plim_fit_known *const known = &search->known[index];
    const plim_fit_limit far = { search->capacity_bytes, false };
    trial->is_confirmed = plim_fit_sample_fits(sample);
    known->is_refuted = !trial->is_confirmed;
    if (trial->is_confirmed) {
        trial->verdict = sample->verdict;
        trial->answer = PLIM_FIT_FITS;
        trial->reason = NULL;
        if (!plim_fit_is_within(search, index, far)) { /* it fits by giving cached memory back */
            trial->peak = sample->peak;
            trial->bar = sample->bar;
        }
    } else if (trial->answer == PLIM_FIT_FITS) {
        trial->answer = PLIM_FIT_SHORT;
        return set_why_not(search, sample, trial, err);
    }
    return PLIM_OK;
}

/* Confirms a trial, and beside it tries a stack that is to be tried next anyway; NULL: none. */
static plim_status confirm(plim_fit_search *search, size_t index, const plim_fit_stack *next,
                           plim_error *err)
{
    char lines[PLIM_FIT_LINES_BYTES];
    char next_lines[PLIM_FIT_LINES_BYTES];
    plim_fit_request requests[2];
    const size_t count = next != NULL ? 2 : 1;
    plim_fit_trial_write(&search->trials[index], PLIM_FIT_ALL_USES, '\n', lines, sizeof(lines));
    PLIM_TRY(plim_fit_request_make(search, lines, search->capacity_bytes, &requests[0], err));
    if (next != NULL) {
        plim_fit_stack_write(&search->space, next, '\n', next_lines, sizeof(next_lines));
        PLIM_TRY(plim_fit_request_make(search, next_lines, search->far_bytes, &requests[1], err));
    }
    PLIM_TRY(plim_fit_run(search, requests, count, err));
    PLIM_TRY(take(search, index, &search->samples[0], err));
    return next != NULL ? plim_fit_record(search, &search->samples[1], next, next_lines, false, err)
                        : PLIM_OK;
}

/* A trial that was expected to fit by giving cached memory back, and did not: so will others, those
 * that need a trifle less included. */
static void learn_stuck(plim_fit_search *search, size_t index, const plim_fit_sample *sample)
{
    const plim_fit_known *const known = &search->known[index];
    const char *const settings = search->trials[index].settings;
    uint64_t *const stuck =
        &search->stuck_bytes[settings != NULL && plim_fit_is_expandable(settings)];
    const uint64_t held = plim_plus(known->allocated_bytes, known->beside_bytes);
    const uint64_t room = plim_minus(search->capacity_bytes, search->margin_bytes);
    const uint64_t needed = sample->verdict == PLIM_REHEARSED_OUT_OF_MEMORY
                                ? room + room / TRIFLE_DIVISOR
                                : sample->bar.high_bytes;
    *stuck = plim_max(*stuck, plim_minus(needed, held));
}

plim_status plim_fit_answer_for(plim_fit_search *search, plim_fit_limit limit, size_t *ret,
                                plim_error *err)
{
    plim_fit_beyond made = { 0 };
    size_t late = 0; /* confirmations after the budget's end: one, without which no answer stands */
    for (;;) {
        PLIM_TRY(plim_fit_look(search, limit, PLIM_FIT_LEAVES, &made, err));
        const size_t best = plim_fit_best(search, limit);
        *ret = best;
        if (best == SIZE_MAX || search->trials[best].is_confirmed) {
            return PLIM_OK;
        }
        const bool is_close = plim_fit_is_close(search, best, limit);
        if (is_close && !plim_fit_may_go_on(search, 1)) {
            limit.is_own = false; /* the last confirmation is for one that surely fits */
            continue;
        }
        const bool is_late = !plim_fit_may_go_on(search, 0);
        if (is_late && (search->made >= search->made_max || late++ > 0)) {
            return PLIM_OK;
        }
        plim_fit_stack next;
        const bool has_next = plim_fit_may_go_on(search, PLIM_FIT_LEAVES) &&
                              plim_fit_cheaper(search, limit, best, &next);
        PLIM_TRY(confirm(search, best, has_next ? &next : NULL, err));
        if (is_close && !plim_fit_sample_failed(&search->samples[0]) &&
            !search->trials[best].is_confirmed) {
            learn_stuck(search, best, &search->samples[0]);
        }
    }
}
