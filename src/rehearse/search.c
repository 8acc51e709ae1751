/*
 * search.c - many rehearsals of one command, with a number in the place of {}. See
 * plimsoll/rehearse.h.
 */
#include "base/error.h"
#include "rehearse/largest.h"
#include "rehearse/rehearsal.h"
#include "rehearse/signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STEPS 2u /* the second step is the first with the optimizer's states in place */

/* ---- one try --------------------------------------------------------------------------------- */

typedef struct batch_search {
    const char *const *argv;
    const plim_rehearse_search_options *options;
    plim_rehearse_options rehearse;
    plim_rehearse_tries *tries;
} batch_search;

static void keep(plim_rehearse_tries *tries, const plim_rehearse_try *one)
{
    size_t at = tries->count;
    while (at > 0 && tries->items[at - 1].value > one->value) {
        tries->items[at] = tries->items[at - 1];
        at--;
    }
    tries->items[at] = *one;
    tries->count++;
}

bool plim_rehearse_accepts(const plim_rehearse_search_options *options,
                           plim_rehearsed_verdict verdict)
{
    return verdict == PLIM_REHEARSED_FITS ||
           (verdict == PLIM_REHEARSED_TIGHT && options->accepts_tight) ||
           (verdict == PLIM_REHEARSED_AT_LEAST && options->accepts_at_least);
}

/* The search has ended: only now is its largest value known to be the largest. */
static plim_status complete(const plim_rehearse_search_options *options, plim_rehearse_tries *tries)
{
    for (size_t i = 0; i < tries->count; i++) {
        if (plim_rehearse_accepts(options, tries->items[i].verdict)) {
            tries->best = tries->items[i].value;
        }
    }
    tries->is_complete = true;
    return PLIM_OK;
}

/* Why more tries make no sense. */
static plim_status stop(uint64_t value, const plim_rehearsed *rehearsed, plim_error *err)
{
    const plim_rehearsal_outcome *outcome = rehearsed->outcome;
    if (plim_signals_ended(rehearsed->exit_status)) {
        return plim_fail(err, PLIM_CANCELLED, "interrupted at %" PRIu64, value);
    }
    for (size_t i = 0; i < outcome->call_count; i++) {
        const plim_rehearsed_call *call = &outcome->calls[i];
        if (strcmp(call->kind, "unknown") == 0 || strcmp(call->kind, "refused") == 0) {
            return plim_fail(err, PLIM_UNSUPPORTED,
                             "stopped at %" PRIu64 ": the program called %s, which has no stand-in",
                             value, call->name);
        }
    }
    return plim_fail(err, PLIM_UNSUPPORTED,
                     "stopped at %" PRIu64 ": it fails for a reason other than memory: %s", value,
                     rehearsed->reason.text != NULL ? rehearsed->reason.text : "unknown");
}

/* A value found without a wanted technique answers another question. */
static plim_status check_refused(uint64_t value, const plim_rehearsed *rehearsed, plim_error *err)
{
    const plim_rehearsed_technique *const refused = plim_rehearsal_refused(rehearsed->outcome);
    if (refused == NULL) {
        return PLIM_OK;
    }
    return plim_fail(err, PLIM_UNSUPPORTED, "stopped at %" PRIu64 ": %s was refused: %s", value,
                     refused->name, refused->text != NULL ? refused->text : "no reason was given");
}

static plim_status try_command(const batch_search *self, const char *const *command, uint64_t value,
                               plim_rehearse_try *ret, plim_error *err)
{
    static const int nowhere[PLIM_LAUNCH_STREAMS] = { -1, -1 };
    plim_output_end end = { 0 };
    const plim_launch_options launch = { .outputs = nowhere,
                                         .output = plim_output_end_take,
                                         .output_ctx = &end };
    plim_rehearsed rehearsed;
    const plim_status tried = plim_rehearse(command, &self->rehearse, &launch, &rehearsed, err);
    memcpy(self->tries->output, end.bytes, end.count);
    self->tries->output_bytes = end.count;
    PLIM_TRY(tried);
    const plim_status narrowed = plim_rehearse_late(&rehearsed, &self->rehearse, err);
    if (narrowed != PLIM_OK) {
        plim_rehearsed_deinit(&rehearsed);
        return narrowed;
    }
    *ret = (plim_rehearse_try){
        .value = value,
        .verdict = plim_rehearsed_judge(&rehearsed),
        .peak = plim_rehearsed_find_peak(rehearsed.outcome),
        .seconds = rehearsed.launched.seconds,
    };
    keep(self->tries, ret);
    plim_status status = PLIM_OK;
    if (ret->verdict == PLIM_REHEARSED_FAILED || ret->verdict == PLIM_REHEARSED_UNANSWERED) {
        status = stop(value, &rehearsed, err);
    } else {
        status = check_refused(value, &rehearsed, err);
    }
    if (status == PLIM_OK && self->options->tried != NULL) {
        self->options->tried(self->options->tried_ctx, ret);
    }
    if (ret->verdict != PLIM_REHEARSED_FAILED) {
        self->tries->output_bytes = 0;
    }
    plim_rehearsed_deinit(&rehearsed);
    return status;
}

static plim_status try_value(const batch_search *self, uint64_t value, plim_rehearse_try *ret,
                             plim_error *err)
{
    if (self->tries->count == PLIM_REHEARSE_TRIES_MAX) {
        return plim_fail(err, PLIM_LIMIT, "%d tries are the most", PLIM_REHEARSE_TRIES_MAX);
    }
    plim_arena arena;
    plim_arena_init(&arena, plim_mem_or_heap(self->rehearse.mem));
    const char **command = plim_command_with(&arena, self->argv, value);
    const plim_status status = command != NULL ? try_command(self, command, value, ret, err)
                                               : plim_fail_memory(err, "filling in the command");
    plim_arena_deinit(&arena);
    return status;
}

/* ---- the search ------------------------------------------------------------------------------ */

static plim_status find_largest(const batch_search *self, plim_error *err)
{
    plim_largest known = { .capacity_bytes = self->tries->capacity_bytes };
    while (!plim_largest_is_found(&known) && !plim_largest_is_unbounded(&known)) {
        plim_rehearse_try one = { 0 };
        PLIM_TRY(try_value(self, plim_largest_next(&known), &one, err));
        plim_largest_learn(&known, one.value, one.peak.device_bytes,
                           plim_rehearse_accepts(self->options, one.verdict));
    }
    self->tries->is_unbounded = plim_largest_is_unbounded(&known);
    return complete(self->options, self->tries);
}

plim_status plim_rehearse_search(const char *const *argv,
                                 const plim_rehearse_search_options *options,
                                 plim_rehearse_tries *ret, plim_error *err)
{
    *ret = (plim_rehearse_tries){ .mem = plim_mem_or_heap(options->rehearse.mem) };
    batch_search self = {
        .argv = argv, .options = options, .rehearse = options->rehearse, .tries = ret
    };
    if (!plim_rehearse_has_place(argv) || options->rehearse.record_path != NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "a search takes a command with {} in it, and records nothing");
    }
    if (self.rehearse.steps == 0) {
        self.rehearse.steps = STEPS;
    }
    PLIM_TRY(plim_rehearse_gpu(&self.rehearse, &ret->gpu, &ret->capacity_bytes, err));
    ret->device_count = self.rehearse.device_count > 0 ? self.rehearse.device_count : 1;
    ret->items = plim_mem_alloc(ret->mem, PLIM_REHEARSE_TRIES_MAX, sizeof(*ret->items));
    if (ret->items == NULL) {
        return plim_fail_memory(err, "listing tries");
    }
    if (options->value_count == 0) {
        return find_largest(&self, err);
    }
    for (size_t i = 0; i < options->value_count; i++) {
        plim_rehearse_try one = { 0 };
        PLIM_TRY(try_value(&self, options->values[i], &one, err));
    }
    return complete(options, ret);
}

void plim_rehearse_tries_deinit(plim_rehearse_tries *tries)
{
    plim_mem_free(tries->mem, tries->items, PLIM_REHEARSE_TRIES_MAX, sizeof(*tries->items));
    tries->items = NULL;
}
