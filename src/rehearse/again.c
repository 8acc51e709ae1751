/*
 * again.c - see again.h.
 */
#include "rehearse/again.h"

#include "base/error.h"
#include "base/numbers.h"
#include "rehearse/rehearsal.h"
#include "rehearse/signals.h"

#define STEPS_MORE  2u /* after the step in which memory ran out */
#define STEPS_LEAST 6u /* room trend needs five points without noise to call them a leak */

static uint64_t step_of_failure(const plim_rehearsal_outcome *outcome)
{
    uint64_t step = 0;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        for (size_t j = 0; j < process->oom_count; j++) {
            step = plim_max(step, process->ooms[j].step);
        }
    }
    return step;
}

plim_rehearse_options plim_again_options(const plim_rehearsed *first,
                                         const plim_rehearse_options *options)
{
    plim_rehearse_options how = options != NULL ? *options : (plim_rehearse_options){ 0 };
    const uint64_t wanted = step_of_failure(first->outcome) + STEPS_MORE;
    const uint64_t enough = plim_max(wanted, STEPS_LEAST);
    how.steps = how.steps == 0 || how.steps > enough ? enough : how.steps;
    return how;
}

/* Without a recording and a list of calls, which are of the first run. */
static plim_rehearse_options unheard(const plim_rehearse_options *how)
{
    plim_rehearse_options options = *how;
    options.record_path = NULL;
    options.prints_calls = false;
    return options;
}

/* Signals are held but while the program itself runs. */
plim_status plim_again(const plim_rehearsed *first, const plim_rehearse_options *how,
                       plim_again_judge judge, void *ctx, bool *ret_is_interrupted, plim_error *err)
{
    static const int nowhere[PLIM_LAUNCH_STREAMS] = { -1, -1 };
    const double seconds = first->launched.seconds * PLIM_NEED_SECONDS_TIMES;
    const plim_launch_options launch = {
        .outputs = nowhere,
        .seconds_max = seconds > PLIM_NEED_SECONDS_LEAST ? seconds : PLIM_NEED_SECONDS_LEAST,
    };
    const plim_rehearse_options options = unheard(how);
    plim_rehearsed again = { .argv = first->argv };
    plim_output_end end = { 0 };
    plim_held_signals signals = plim_signals_hold();
    plim_status status = plim_rehearsal_prepare(first->argv, &options, &again.rehearsal, err);
    bool is_interrupted = plim_signals_drop(signals);
    plim_signals_release(signals);
    if (status == PLIM_OK && !is_interrupted) {
        status = plim_rehearsal_launch(&options, &launch, &end, &again, err);
    }
    signals = plim_signals_hold();
    if (status == PLIM_OK && !is_interrupted) {
        status = plim_rehearsal_gather(NULL, &end, &again, err);
    }
    is_interrupted = is_interrupted ||
                     (!again.launched.timed_out && plim_signals_ended(again.launched.exit_status));
    if (status == PLIM_OK && !is_interrupted) {
        status = judge(ctx, &again, err);
    }
    is_interrupted = plim_signals_drop(signals) || is_interrupted;
    plim_rehearsed_deinit(&again);
    plim_signals_release(signals);
    *ret_is_interrupted = is_interrupted;
    return is_interrupted ? PLIM_OK : status;
}
