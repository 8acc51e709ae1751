/*
 * run.c - one rehearsal from start to end, and its verdict. See plimsoll/rehearse.h.
 */
#include "base/error.h"
#include "base/numbers.h"
#include "rehearse/advise.h"
#include "rehearse/reason.h"
#include "rehearse/rehearsal.h"
#include "rehearse/signals.h"

#include "plimsoll/load.h"

#include <string.h>

/* ---- the verdict ----------------------------------------------------------------------------- */

plim_rehearsed_verdict plim_rehearsed_judge(const plim_rehearsed *rehearsed)
{
    if (rehearsed->outcome->unanswered_count > 0) {
        return PLIM_REHEARSED_UNANSWERED;
    }
    if (rehearsed->ran_out) {
        return PLIM_REHEARSED_OUT_OF_MEMORY;
    }
    if (rehearsed->exit_status != 0 || rehearsed->reason.word != NULL) {
        return PLIM_REHEARSED_FAILED;
    }
    const plim_rehearsal_outcome *outcome = rehearsed->outcome;
    if (plim_rehearsed_is_at_least(outcome)) {
        return PLIM_REHEARSED_AT_LEAST;
    }
    const uint64_t wanted =
        plim_plus(plim_rehearsed_find_bar(outcome).high_bytes, outcome->margin_bytes);
    return wanted > outcome->capacity_bytes ? PLIM_REHEARSED_TIGHT : PLIM_REHEARSED_FITS;
}

const char *plim_rehearsed_verdict_name(plim_rehearsed_verdict verdict)
{
    static const char *const names[] = {
        [PLIM_REHEARSED_FITS] = "fits",         [PLIM_REHEARSED_TIGHT] = "tight",
        [PLIM_REHEARSED_AT_LEAST] = "at_least", [PLIM_REHEARSED_OUT_OF_MEMORY] = "out_of_memory",
        [PLIM_REHEARSED_FAILED] = "failed",     [PLIM_REHEARSED_UNANSWERED] = "unanswered",
    };
    return names[verdict];
}

plim_rehearsed_peak plim_rehearsed_find_peak(const plim_rehearsal_outcome *outcome)
{
    plim_rehearsed_peak peak = { 0 };
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        for (size_t j = 0; j < process->device_count; j++) {
            const plim_rehearsed_device *device = &process->devices[j];
            peak.allocated_bytes = plim_max(peak.allocated_bytes, device->peak_allocated_bytes);
            peak.reserved_bytes = plim_max(peak.reserved_bytes, device->peak_reserved_bytes);
        }
    }
    for (uint32_t i = 0; i < outcome->device_count; i++) {
        peak.device_bytes = plim_max(peak.device_bytes, outcome->gpus[i].peak_bytes);
    }
    return peak;
}

plim_rehearsed_bar plim_rehearsed_find_bar(const plim_rehearsal_outcome *outcome)
{
    plim_rehearsed_bar bar = { 0 };
    for (uint32_t i = 0; i < outcome->device_count; i++) {
        const plim_rehearsed_bar *one = &outcome->gpus[i].peak;
        bar = one->high_bytes > bar.high_bytes ? *one : bar;
    }
    return bar;
}

bool plim_rehearsed_is_at_least(const plim_rehearsal_outcome *outcome)
{
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        if (process->stop_reason != NULL && strcmp(process->stop_reason, "endless_loop") == 0) {
            return true;
        }
        for (size_t j = 0; j < process->read_count; j++) {
            if (process->reads[j].why != NULL) {
                return true;
            }
        }
    }
    return false;
}

bool plim_rehearsed_is_held_by_cache(const plim_rehearsed *rehearsed)
{
    const plim_rehearsed_need *need = rehearsed->need;
    if (need == NULL || need->why_unknown != NULL || need->why_at_least != NULL) {
        return false;
    }
    const uint64_t beside = plim_minus(need->peak.device_bytes, need->peak.reserved_bytes);
    return plim_plus(need->peak.allocated_bytes, beside) <= rehearsed->outcome->capacity_bytes;
}

/* True if a device's memory ran out and that ended the program: by PyTorch's own record, or by the
 * message that the program printed. */
static bool has_run_out(const plim_rehearsed *rehearsed)
{
    if (rehearsed->exit_status == 0) {
        return false;
    }
    for (size_t i = 0; i < rehearsed->outcome->process_count; i++) {
        if (strcmp(rehearsed->outcome->processes[i].ended, "oom") == 0) {
            return true;
        }
    }
    return rehearsed->launched.died_of_memory && rehearsed->message != NULL &&
           rehearsed->message->judgement.verdict != PLIM_VERDICT_HOST;
}

/* ---- its results ----------------------------------------------------------------------------- */

plim_status plim_rehearsal_gather(const char *record_path, const plim_output_end *end,
                                  plim_rehearsed *ret, plim_error *err)
{
    PLIM_TRY(plim_rehearsal_finish(ret->rehearsal, &ret->outcome, err));
    ret->exit_status = ret->launched.exit_status;
    ret->message =
        ret->launched.explanation != NULL ? plim_explanation_main(ret->launched.explanation) : NULL;
    ret->ran_out = has_run_out(ret);
    if (ret->launched.explanation == NULL && ret->exit_status != 0 && !ret->ran_out) {
        return plim_fail_memory(err, "reading the program's output"); /* it may have been memory */
    }
    PLIM_TRY(plim_rehearsal_advise(ret, err));
    PLIM_TRY(plim_reason_find(ret, end, &ret->rehearsal->arena, &ret->reason, err));
    const plim_status status =
        record_path == NULL ? PLIM_OK
                            : plim_rehearsal_record(ret->rehearsal, record_path, &ret->recordings,
                                                    &ret->recording_count, err);
    /* Of what failed early there is no history, and the failure is the answer. */
    return status == PLIM_UNSUPPORTED && ret->reason.word != NULL ? PLIM_OK : status;
}

/* A signal that comes meanwhile takes effect after that, with the folder removed. */
static plim_status keep_results(const char *record_path, const plim_output_end *end,
                                plim_rehearsed *ret, plim_error *err)
{
    const plim_held_signals signals = plim_signals_hold();
    plim_status status = plim_rehearsal_gather(record_path, end, ret, err);
    if (plim_signals_wait(signals)) {
        plim_rehearsed_deinit(ret);
        status = plim_fail(err, PLIM_CANCELLED, "interrupted while the results were read");
    }
    plim_signals_release(signals);
    return status;
}

plim_status plim_rehearsal_launch(const plim_rehearse_options *options,
                                  const plim_launch_options *launch, plim_output_end *ret_end,
                                  plim_rehearsed *ret, plim_error *err)
{
    plim_launch_options how = launch != NULL ? *launch : (plim_launch_options){ 0 };
    how.environment = plim_rehearsal_environment(ret->rehearsal);
    *ret_end = (plim_output_end){ .output = how.output, .output_ctx = how.output_ctx };
    how.output = plim_output_end_take;
    how.output_ctx = ret_end;
    /* PyTorch frees the blocks of some sets in the order of their addresses: with fixed addresses
     * two rehearsals of one program are equal to the byte. */
    how.has_fixed_addresses = true;
    if (options != NULL) {
        how.explain.mem = options->mem;
        how.explain.capacity_bytes = (double)options->capacity_bytes;
    }
    return plim_launch(plim_rehearsal_argv(ret->rehearsal), &how, &ret->launched, err);
}

plim_status plim_rehearse(const char *const *argv, const plim_rehearse_options *options,
                          const plim_launch_options *launch, plim_rehearsed *ret, plim_error *err)
{
    *ret = (plim_rehearsed){ .argv = argv };
    const char *record_path = options != NULL ? options->record_path : NULL;
    if (record_path != NULL && !plim_history_can_save(record_path)) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "\"%s\" is neither FILE.plim nor FILE.pickle",
                         record_path);
    }
    PLIM_TRY(plim_rehearsal_prepare(argv, options, &ret->rehearsal, err));
    plim_output_end end = { 0 };
    plim_status status = plim_rehearsal_launch(options, launch, &end, ret, err);
    if (status == PLIM_OK) {
        status = keep_results(record_path, &end, ret, err);
    }
    if (status != PLIM_OK) {
        plim_rehearsed_deinit(ret);
    }
    return status;
}

void plim_rehearsed_deinit(plim_rehearsed *rehearsed)
{
    plim_launched_deinit(&rehearsed->launched);
    plim_rehearsal_destroy(rehearsed->rehearsal);
    *rehearsed = (plim_rehearsed){ 0 };
}
