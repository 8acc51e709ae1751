/*
 * trial.c - one rehearsal, and what is kept of it. It runs in a worker process: see workers.c.
 */
#include "base/arena.h"
#include "base/error.h"
#include "base/numbers.h"
#include "fit/cost.h"
#include "fit/search.h"
#include "rehearse/rehearsal.h"
#include "rehearse/signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* Host memory that is not pinned, as the agent says it: states of an optimizer. */
static uint64_t host_bytes_of(const plim_rehearsed_technique *one)
{
    for (size_t i = 0; i < one->detail_count; i++) {
        if (strcmp(one->details[i].name, "host_bytes") == 0) {
            return plim_whole(strtod(one->details[i].value, NULL));
        }
    }
    return 0;
}

static void add_reports(plim_fit_sample *sample, const plim_rehearsal_outcome *outcome)
{
    for (size_t i = 0; i < outcome->technique_count && i < PLIM_FIT_USES_MAX; i++) {
        const plim_rehearsed_technique *const one = &outcome->techniques[i];
        plim_fit_report *const report = &sample->reports[sample->report_count++];
        set_text(report->state, sizeof(report->state), one->state);
        set_line(report->text, sizeof(report->text), one->text != NULL ? one->text : "");
        set_text(report->label, sizeof(report->label), one->label);
        sample->host_bytes = plim_plus(sample->host_bytes, host_bytes_of(one));
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
    if (rehearsed->launched.timed_out) {
        reason = "it took too long";
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
    plim_fit_cost_of(outcome, &sample->cost);
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
    *ret_is_interrupted = *ret_is_interrupted || plim_signals_drop(signals) ||
                          (!ret->launched.timed_out && ret->launched.exit_status > 0 &&
                           plim_signals_ended(ret->launched.exit_status));
    plim_signals_release(signals);
    return status;
}

void plim_fit_rehearse(const plim_fit_workers *workers, const plim_fit_request *request,
                       plim_fit_sample *ret)
{
    static const int nowhere[PLIM_LAUNCH_STREAMS] = { -1, -1 };
    const plim_launch_options launch = { .outputs = nowhere, .seconds_max = request->seconds_max };
    plim_rehearse_options how = workers->options->rehearse;
    how.techniques = request->techniques;
    how.settings = request->settings != NULL ? request->settings : how.settings;
    how.gpu = request->gpu != NULL ? request->gpu : how.gpu;
    how.capacity_bytes = request->capacity_bytes;
    how.record_path = NULL;
    how.prints_calls = false;
    how.keeps_snapshots = false;
    how.counts_work = true;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    ret->began = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    plim_rehearsed rehearsed = { .argv = workers->argv };
    plim_error why = { 0 };
    ret->status = rehearse(workers->argv, &how, &launch, &rehearsed, &ret->is_interrupted, &why);
    if (ret->status == PLIM_OK && !ret->is_interrupted) {
        ret->status = plim_rehearse_late(&rehearsed, &how, &why);
    }
    if (ret->status == PLIM_OK && !ret->is_interrupted) {
        measure(ret, &rehearsed);
    }
    set_text(ret->error, sizeof(ret->error), why.message);
    const plim_held_signals signals = plim_signals_hold();
    plim_rehearsed_deinit(&rehearsed);
    ret->is_interrupted = plim_signals_drop(signals) || ret->is_interrupted;
    plim_signals_release(signals);
    ret->is_done = true;
}
