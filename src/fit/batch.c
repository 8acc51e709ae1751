/*
 * batch.c - the largest batch under the answer, of training and of evaluation apart.
 *
 * Each number is rehearsed with the GPU's own memory, two at a time: the number that a straight
 * line through those that fit leaves room for, and the next one, which proves it the largest.
 * docs/design/fit.md.
 */
#include "base/error.h"
#include "base/numbers.h"
#include "fit/search.h"
#include "rehearse/largest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAIR              2
#define BATCH_MAX         36 /* rehearsals for one batch, beside those of the search */
#define WHOLE_SECONDS_MAX 60 /* of a rehearsal to the program's end, where evaluations come */

typedef struct rows_search {
    plim_fit_search *search;
    char stack[PLIM_FIT_LINES_BYTES]; /* techniques, one a line */
    bool is_evaluation;
    bool has_place; /* the command takes the number */
    plim_largest known;
    plim_fit_batch *found;
} rows_search;

/* ---- requests -------------------------------------------------------------------------------- */

static plim_status make_request(const rows_search *self, uint64_t rows, plim_fit_request *ret,
                                plim_error *err)
{
    plim_fit_search *const search = self->search;
    char lines[PLIM_FIT_LINES_BYTES + 64];
    const char *const separator = self->stack[0] != '\0' ? "\n" : "";
    if (self->has_place) {
        (void)snprintf(lines, sizeof(lines), "%s", self->stack);
    } else {
        (void)snprintf(lines, sizeof(lines), "%s%sbatch=%s%" PRIu64, self->stack, separator,
                       self->is_evaluation ? "eval:" : "", rows);
    }
    PLIM_TRY(plim_fit_request_make(search, lines, search->capacity_bytes, ret, err));
    ret->until = search->until; /* an answer stands without it */
    if (self->is_evaluation) {
        ret->runs_to_end = true;
        ret->seconds_max = WHOLE_SECONDS_MAX;
    }
    if (self->has_place) {
        ret->argv = plim_command_with(search->arena, search->runner->argv, rows);
        return ret->argv != NULL ? PLIM_OK : plim_fail_memory(err, "filling in the command");
    }
    return PLIM_OK;
}

/* ---- answers --------------------------------------------------------------------------------- */

static plim_status give_up(rows_search *self, const char *why, plim_error *err)
{
    self->found->why_unknown = plim_fit_keep(self->search, why);
    return self->found->why_unknown != NULL ? PLIM_OK : plim_fail_memory(err, "finding a batch");
}

/* The report of the technique that sets the batch is the last. */
static const plim_fit_report *report_of(const rows_search *self, const plim_fit_sample *sample)
{
    return self->has_place || sample->report_count == 0
               ? NULL
               : &sample->reports[sample->report_count - 1];
}

static plim_status stop_at_dataset(rows_search *self, uint64_t rows, plim_error *err)
{
    char text[PLIM_FIT_TEXT_BYTES];
    (void)snprintf(text, sizeof(text), "the dataset has %" PRIu64 " rows", rows);
    plim_largest_learn(&self->known, rows + 1, 0, false);
    self->known.first = rows; /* all of them may fit */
    self->found->why_not_more = plim_fit_keep(self->search, text);
    return self->found->why_not_more != NULL ? PLIM_OK : plim_fail_memory(err, "finding a batch");
}

static plim_status learn_failure(rows_search *self, uint64_t rows, const plim_fit_sample *sample,
                                 plim_error *err)
{
    char text[PLIM_FIT_TEXT_BYTES * 2];
    const bool is_less = rows < self->found->now || rows == 1;
    if (sample->is_out_of_time) {
        (void)snprintf(text, sizeof(text), "%s%s", sample->reason,
                       self->is_evaluation ? ": this needs the program's end" : "");
        return give_up(self, text, err);
    }
    if (sample->is_done && sample->status == PLIM_OK && is_less && self->known.low == 0) {
        /* Normalization over a batch of one row fails, for instance. */
        self->known.first = plim_max(self->known.first, rows + 1);
        return PLIM_OK;
    }
    const char *why = sample->reason[0] != '\0' ? sample->reason : sample->error;
    (void)snprintf(text, sizeof(text), "with a batch of %" PRIu64 " the program failed: %s", rows,
                   why[0] != '\0' ? why : "no reason is known");
    return give_up(self, text, err);
}

static plim_status learn(rows_search *self, uint64_t rows, const plim_fit_sample *sample,
                         plim_error *err)
{
    const plim_fit_report *const report = report_of(self, sample);
    const bool is_refused = report != NULL && strcmp(report->state, "refused") == 0;
    const bool is_waiting = report != NULL && strcmp(report->state, "waiting") == 0;
    self->found->now = self->found->now > 0 ? self->found->now : sample->batch_rows;
    self->known.first = self->known.first > 0 ? self->known.first : self->found->now;
    if (is_refused && sample->dataset_rows > 0) {
        return stop_at_dataset(self, sample->dataset_rows, err);
    }
    if (is_refused || (is_waiting && !plim_fit_sample_failed(sample))) {
        return give_up(self, report->text, err);
    }
    if (plim_fit_sample_failed(sample)) {
        return learn_failure(self, rows, sample, err);
    }
    const bool fits = plim_fit_sample_fits(sample);
    if (fits && rows > self->known.low) {
        self->found->peak = sample->peak;
    }
    if (!fits && (self->known.high == 0 || rows < self->known.high)) {
        self->found->why_not_more = NULL;
    }
    plim_largest_learn(&self->known, rows, sample->peak.device_bytes, fits);
    return PLIM_OK;
}

/* ---- the search ------------------------------------------------------------------------------ */

static plim_status try_pair(rows_search *self, plim_error *err)
{
    plim_fit_search *const search = self->search;
    plim_fit_request requests[PAIR];
    uint64_t rows[PAIR];
    size_t count = plim_largest_next_pair(&self->known, rows);
    count = search->made + 1 >= search->made_max ? 1 : count;
    for (size_t i = 0; i < count; i++) {
        PLIM_TRY(make_request(self, rows[i], &requests[i], err));
    }
    PLIM_TRY(plim_fit_run(search, requests, count, err));
    self->found->rehearsals += count;
    if (search->options->tried != NULL) {
        search->options->tried(search->options->tried_ctx, NULL, search->made,
                               plim_max(search->expected, search->made));
    }
    for (size_t i = 0; i < count && self->found->why_unknown == NULL; i++) {
        PLIM_TRY(learn(self, rows[i], &search->samples[i], err));
    }
    return PLIM_OK;
}

static plim_status say_unfinished(rows_search *self, plim_error *err)
{
    char text[PLIM_FIT_TEXT_BYTES];
    const plim_largest *const known = &self->known;
    size_t used = (size_t)snprintf(text, sizeof(text), "the search ended early");
    if (known->low > 0) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, ": a batch of %" PRIu64 " fits",
                                 known->low);
    }
    if (known->high > 0) {
        (void)snprintf(text + used, sizeof(text) - used, "%s %" PRIu64 " does not",
                       known->low > 0 ? ", one of" : ": a batch of", known->high);
    }
    return give_up(self, text, err);
}

static plim_status find(rows_search *self, plim_error *err)
{
    self->search->made_max = self->search->made + BATCH_MAX;
    while (!plim_largest_is_found(&self->known) && !plim_largest_is_unbounded(&self->known) &&
           self->found->why_unknown == NULL && plim_fit_may_go_on(self->search, 0)) {
        PLIM_TRY(try_pair(self, err));
    }
    self->found->largest = self->known.low;
    return self->found->why_unknown != NULL || plim_largest_is_found(&self->known)
               ? PLIM_OK
               : say_unfinished(self, err);
}

/* The stack of a batch, as the search takes it and as the page shows it. */
static plim_status take_stack(rows_search *self, const plim_fit_trial *trial, plim_fit_which which,
                              plim_error *err)
{
    char shown[PLIM_FIT_LINES_BYTES];
    plim_fit_trial_write(trial, which, '\n', self->stack, sizeof(self->stack));
    plim_fit_trial_write(trial, which, ' ', shown, sizeof(shown));
    self->found->stack = plim_fit_keep(self->search, shown);
    return self->found->stack != NULL ? PLIM_OK : plim_fail_memory(err, "finding a batch");
}

plim_status plim_fit_find_batches(plim_fit_search *search, size_t trial, plim_fitted *ret,
                                  plim_error *err)
{
    const plim_fit_trial *const one = &search->trials[trial];
    rows_search training = {
        .search = search,
        .has_place = search->runner->argv != NULL && plim_rehearse_has_place(search->runner->argv),
        .known = { .capacity_bytes = search->capacity_bytes,
                   .first = search->known[trial].piece_rows },
        .found = &ret->training,
    };
    /* Beside it the batch of training is the program's own, divided as the answer has it. */
    rows_search evaluation = { .search = search,
                               .is_evaluation = true,
                               .known = { .capacity_bytes = search->capacity_bytes },
                               .found = &ret->evaluation };
    PLIM_TRY(take_stack(&training, one, PLIM_FIT_ROWLESS_USES, err));
    PLIM_TRY(take_stack(&evaluation, one, PLIM_FIT_ALL_USES, err));
    PLIM_TRY(find(&training, err));
    return find(&evaluation, err);
}
