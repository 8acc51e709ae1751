/*
 * trial.c - one rehearsal, and what is kept of it. It runs in a worker process: see workers.c.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/units.h"
#include "fit/cost.h"
#include "fit/ending.h"
#include "fit/search.h"
#include "rehearse/rehearsal.h"
#include "rehearse/signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEFT_LEAST 0.001 /* seconds: 0 is no limit */

static void set_text(char *text, size_t bytes, const char *to)
{
    (void)snprintf(text, bytes, "%s", to != NULL ? to : "");
}

/* The last line, where a message has several. */
static void set_line(char *text, size_t bytes, const char *to)
{
    size_t end = strlen(to);
    while (end > 0 && (to[end - 1] == '\n' || to[end - 1] == ' ' || to[end - 1] == '.')) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && to[begin - 1] != '\n') {
        begin--;
    }
    (void)snprintf(text, bytes, "%.*s", (int)(end - begin), to + begin);
}

/* ---- parts of a sample ----------------------------------------------------------------------- */

static void add_phase(plim_fit_sample *sample, const plim_rehearsed_phase *phase)
{
    size_t i = 0;
    while (i < sample->phase_count &&
           strncmp(sample->phases[i].name, phase->name, sizeof(sample->phases[i].name) - 1) != 0) {
        i++;
    }
    if (i == PLIM_FIT_PHASES_MAX) {
        return;
    }
    if (i == sample->phase_count) {
        set_text(sample->phases[i].name, sizeof(sample->phases[i].name), phase->name);
        sample->phase_count++;
    }
    sample->phases[i].allocated_bytes =
        plim_max(sample->phases[i].allocated_bytes, phase->peak_allocated_bytes);
}

/* A number among the facts that the agent reports of a technique; 0: it has no such fact. */
static uint64_t fact_of(const plim_rehearsed_technique *one, const char *name)
{
    for (size_t i = 0; i < one->detail_count; i++) {
        if (strcmp(one->details[i].name, name) == 0) {
            return plim_whole(strtod(one->details[i].value, NULL));
        }
    }
    return 0;
}

/* Host memory that is not pinned, which the stand-ins do not see, is a fact: states of an
 * optimizer. */
static void add_facts(plim_fit_sample *sample, const plim_rehearsed_technique *one)
{
    sample->host_bytes = plim_plus(sample->host_bytes, fact_of(one, "host_bytes"));
    sample->batch_rows = plim_max(sample->batch_rows, fact_of(one, "batch"));
    sample->piece_rows = plim_max(sample->piece_rows, fact_of(one, "part"));
    sample->dataset_rows = plim_max(sample->dataset_rows, fact_of(one, "dataset_rows"));
}

static void add_reports(plim_fit_sample *sample, const plim_rehearsal_outcome *outcome)
{
    for (size_t i = 0; i < outcome->technique_count && i < PLIM_FIT_USES_MAX; i++) {
        const plim_rehearsed_technique *const one = &outcome->techniques[i];
        plim_fit_report *const report = &sample->reports[sample->report_count++];
        set_text(report->state, sizeof(report->state), one->state);
        set_line(report->text, sizeof(report->text), one->text != NULL ? one->text : "");
        set_text(report->label, sizeof(report->label), one->label);
        add_facts(sample, one);
    }
}

/* The agent's report as it is, for those who write changes down; what has no room is left out. */
static void add_document(plim_fit_sample *sample, const char *text)
{
    const size_t bytes = text != NULL ? strlen(text) + 1 : 0;
    if (bytes <= sizeof(sample->documents) - sample->documents_bytes && bytes > 0) {
        memcpy(sample->documents + sample->documents_bytes, text, bytes);
        sample->documents_bytes += bytes;
    }
}

static void add_process(plim_fit_sample *sample, const plim_rehearsed_process *process)
{
    sample->steps = plim_max(sample->steps, process->steps);
    add_document(sample, process->with_report);
    for (size_t i = 0; i < process->device_count; i++) {
        for (size_t j = 0; j < process->devices[i].phase_count; j++) {
            add_phase(sample, &process->devices[i].phases[j]);
        }
        for (size_t j = 0; j < process->devices[i].step_count; j++) {
            sample->end_bytes =
                plim_max(sample->end_bytes, process->devices[i].steps[j].end_allocated_bytes);
        }
    }
}

static void set_reason(plim_fit_sample *sample, const plim_rehearsed *rehearsed)
{
    const plim_rehearsal_outcome *const outcome = rehearsed->outcome;
    const char *reason = rehearsed->reason.text;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const char *const exception = outcome->processes[i].exception;
        reason = exception != NULL && exception[0] != '\0' ? exception : reason;
    }
    for (size_t i = 0; i < outcome->call_count; i++) {
        const char *const kind = outcome->calls[i].kind;
        if (strcmp(kind, "unknown") == 0 || strcmp(kind, "refused") == 0) {
            (void)snprintf(sample->reason, sizeof(sample->reason), "%s has no stand-in",
                           outcome->calls[i].name);
            return;
        }
    }
    set_line(sample->reason, sizeof(sample->reason), reason != NULL ? reason : "");
}

static void measure(plim_fit_sample *sample, const plim_rehearsed *rehearsed)
{
    const plim_rehearsal_outcome *const outcome = rehearsed->outcome;
    sample->verdict =
        rehearsed->launched.timed_out ? PLIM_REHEARSED_FAILED : plim_rehearsed_judge(rehearsed);
    sample->peak = plim_rehearsed_find_peak(outcome);
    sample->bar = plim_rehearsed_find_bar(outcome);
    for (uint32_t i = 0; i < outcome->device_count; i++) {
        sample->waiting_bytes = plim_max(sample->waiting_bytes, outcome->gpus[i].waiting_bytes);
    }
    for (size_t i = 0; i < outcome->process_count; i++) {
        add_process(sample, &outcome->processes[i]);
    }
    sample->host_bytes = outcome->host_bytes;
    add_reports(sample, outcome);
    sample->seconds = rehearsed->launched.seconds;
    set_reason(sample, rehearsed);
    plim_fit_cost_of(outcome, outcome->gpu, &sample->cost);
    for (size_t i = 0; i < PLIM_FIT_CARDS; i++) {
        plim_fit_cost cost;
        plim_fit_cost_of(outcome, plim_fit_card(i), &cost);
        sample->card_seconds[i] = cost.seconds;
    }
}

/* ---- what it prints ---------------------------------------------------------------------------
 */

/* torchrun, and programs with a fixed port: two of them at a time cannot be. */
static const char *const port_words[] = { "EADDRINUSE", "ddress already in use" };

#define SEAM_BYTES 32 /* of the piece before, more than any of the words */

typedef struct port_watch {
    char seam[2 * SEAM_BYTES]; /* the end of one piece and the begin of the next */
    size_t kept;
    bool is_seen;
} port_watch;

static bool has_port_words(const char *data, size_t bytes)
{
    bool is_found = false;
    for (size_t i = 0; i < sizeof(port_words) / sizeof(port_words[0]); i++) {
        is_found = is_found || memmem(data, bytes, port_words[i], strlen(port_words[i])) != NULL;
    }
    return is_found;
}

static void watch_ports(void *ctx, int stream, const char *data, size_t bytes)
{
    port_watch *const self = ctx;
    const size_t begin = bytes < SEAM_BYTES ? bytes : SEAM_BYTES;
    (void)stream; /* both go nowhere, so they are one */
    memcpy(self->seam + self->kept, data, begin);
    self->is_seen = self->is_seen || has_port_words(self->seam, self->kept + begin) ||
                    has_port_words(data, bytes);
    self->kept = begin;
    memcpy(self->seam, data + bytes - begin, begin);
}

/* ---- from start to end ----------------------------------------------------------------------- */

/* Signals end the program, and the folder goes away after that: as in again.c. */
static plim_status rehearse(const char *const *argv, const plim_rehearse_options *how,
                            const plim_launch_options *launch, plim_rehearsed *ret,
                            bool *ret_is_interrupted, plim_error *err)
{
    plim_output_end end = { 0 };
    plim_held_signals signals = plim_signals_hold();
    plim_status status = plim_rehearsal_prepare(argv, how, &ret->rehearsal, err);
    *ret_is_interrupted = plim_signals_drop(signals);
    plim_signals_release(signals);
    if (status == PLIM_OK && !*ret_is_interrupted) {
        status = plim_rehearsal_launch(how, launch, &end, ret, err);
    }
    signals = plim_signals_hold();
    if (status == PLIM_OK && !*ret_is_interrupted) {
        status = plim_rehearsal_gather(NULL, &end, ret, err);
    }
    *ret_is_interrupted = plim_signals_drop(signals) || *ret_is_interrupted;
    plim_signals_release(signals);
    return status;
}

static double seconds_until(double until)
{
    return until - (double)plim_clock_now_ns(&plim_clock_system) / (double)NS_PER_S;
}

/* 0: the budget does not end it before it takes too long. */
static double seconds_of_budget(const plim_fit_request *request)
{
    const double left = request->until > 0 ? seconds_until(request->until) : 0;
    if (request->until <= 0 || (request->seconds_max > 0 && left > request->seconds_max)) {
        return 0;
    }
    return left > LEFT_LEAST ? left : LEFT_LEAST;
}

static void set_out_of_time(plim_fit_sample *sample, bool is_budget)
{
    sample->is_out_of_time = true;
    sample->verdict = PLIM_REHEARSED_FAILED;
    set_text(sample->reason, sizeof(sample->reason),
             is_budget ? "the budget of time ended" : "it took too long");
}

/* Another rehearsal, where there is time for it. */
static plim_status rehearse_late(const plim_fit_request *request, const plim_rehearse_options *how,
                                 plim_rehearsed *rehearsed, plim_error *err)
{
    const bool has_time =
        request->until <= 0 || seconds_until(request->until) > rehearsed->launched.seconds;
    /* The signal may have been for the search, of which the other process knows. */
    return has_time && !plim_signals_ended(rehearsed->launched.exit_status)
               ? plim_rehearse_late(rehearsed, how, err)
               : PLIM_OK;
}

static uint64_t steps_of(const plim_fit_workers *workers, const plim_fit_request *request)
{
    return request->is_trial && workers->trial_steps > 0 ? workers->trial_steps
                                                         : workers->options->rehearse.steps;
}

void plim_fit_rehearse(const plim_fit_workers *workers, const plim_fit_request *request,
                       plim_fit_sample *ret)
{
    static const int nowhere[PLIM_LAUNCH_STREAMS] = { -1, -1 };
    const double budget = seconds_of_budget(request);
    port_watch ports = { .kept = 0 };
    const plim_launch_options launch = { .outputs = nowhere,
                                         .output = watch_ports,
                                         .output_ctx = &ports,
                                         .ends_with_caller = true,
                                         .seconds_max =
                                             budget > 0 ? budget : request->seconds_max };
    plim_rehearse_options how = workers->options->rehearse;
    how.techniques = request->techniques;
    how.settings = request->settings != NULL ? request->settings : how.settings;
    how.gpu = request->gpu != NULL ? request->gpu : how.gpu;
    how.capacity_bytes = request->capacity_bytes;
    how.steps = request->runs_to_end ? 0 : steps_of(workers, request);
    how.record_path = NULL;
    how.prints_calls = false;
    how.keeps_snapshots = false;
    how.counts_step = request->counts_step;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    ret->began = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    const char *const *const argv = request->argv != NULL ? request->argv : workers->argv;
    plim_rehearsed rehearsed = { .argv = argv };
    plim_error why = { 0 };
    ret->status = rehearse(argv, &how, &launch, &rehearsed, &ret->is_interrupted, &why);
    if (ret->status == PLIM_OK && !ret->is_interrupted) {
        ret->status = rehearse_late(request, &how, &rehearsed, &why);
    }
    if (ret->status == PLIM_OK && !ret->is_interrupted) {
        measure(ret, &rehearsed);
    }
    ret->is_in_the_way = ports.is_seen && ret->verdict == PLIM_REHEARSED_FAILED;
    if (rehearsed.launched.timed_out) {
        set_out_of_time(ret, budget > 0);
    }
    plim_fit_end_orphans(); /* before the folder goes in which they may write */
    set_text(ret->error, sizeof(ret->error), why.message);
    const plim_held_signals signals = plim_signals_hold();
    plim_rehearsed_deinit(&rehearsed);
    ret->is_interrupted = plim_signals_drop(signals) || ret->is_interrupted;
    plim_signals_release(signals);
    ret->is_done = true;
}
