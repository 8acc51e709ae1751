/*
 * trial.c - see trial.h.
 */
#include "replay/search/trial.h"

#include "base/error.h"
#include "base/numbers.h"
#include "replay/run/run.h"
#include "replay/search/tune.h"

typedef struct asking {
    plim_watch *watch;
    bool has_budget;
} asking;

static bool ask(void *ctx, uint64_t done, uint64_t total)
{
    (void)done; /* a search counts runs */
    (void)total;
    const asking *const who = ctx;
    return plim_watch_asks(who->watch, who->has_budget);
}

/* The events of a device's steps before which the cache is emptied: where steps meet. */
static void set_step_ends(const plim_program *program, const plim_steps *steps, plim_run_setup *run)
{
    if (steps->count == 0) {
        return;
    }
    size_t first = 1;
    size_t end = steps->count + 1;
    while (first < end && steps->first_events[first] <= program->from_event) {
        first++;
    }
    while (first < end && steps->first_events[end - 1] >= program->to_event) {
        end--;
    }
    run->empty_events = steps->first_events + first;
    run->empty_event_count = end - first;
}

static void set_emptying(const plim_trial_context *context, size_t device, const plim_tune_row *row,
                         plim_run_setup *run)
{
    if (row->empty_cache == PLIM_EMPTY_AT_EVENT) {
        run->empty_events = &row->empty_cache_event;
        run->empty_event_count = 1;
    } else if (row->empty_cache == PLIM_EMPTY_AFTER_STEPS) { /* only a search, which finds steps */
        set_step_ends(context->replay->devices.items[device].asked, &context->steps[device], run);
    }
}

/*
 * What a request that failed would have taken from the driver. An expandable segment grows by
 * whole handles, and may end in a free one: this is the most it would have taken.
 */
static uint64_t needed_of(const plim_conf *conf, const plim_run_result *result)
{
    const plim_settings *const settings = &conf->settings;
    if (result->failed_bytes == 0) {
        return 0;
    }
    if (result->failed_bytes >= (uint64_t)1 << 60) {
        return UINT64_MAX; /* more than any allocator serves */
    }
    const uint64_t bytes = plim_round_size(settings, result->failed_bytes);
    uint64_t segment = bytes;
    if (conf->policy == PLIM_POLICY_TORCH) {
        segment = plim_segment_size(settings, bytes);
        if (settings->expandable_segments && settings->large_segment_bytes > 0 &&
            segment > PLIM_CAPACITY_STEP_BYTES) {
            const uint64_t handle = settings->large_segment_bytes;
            segment = (bytes + handle - 1) / handle * handle;
        }
    }
    const double fraction = settings->per_process_memory_fraction;
    const uint64_t needed = result->failed_reserved_bytes + segment;
    return fraction > 0 && fraction < 1 ? (uint64_t)((double)needed / fraction) : needed;
}

static void note_failure(const plim_program *program, const plim_trial_setup *setup,
                         const plim_run_result *result, plim_trial *trial)
{
    const uint64_t events = program->to_event - program->from_event;
    trial->survives = false;
    trial->result = *result;
    trial->needed_bytes = needed_of(&setup->row->conf, result);
    trial->reach = events == 0 ? 1 : (double)result->events / (double)events;
}

static void note_no_start(const plim_program *program, plim_trial *trial)
{
    trial->survives = false;
    trial->starts = false;
    trial->reach = 0;
    trial->needed_bytes = program->facts.start_live_bytes;
    trial->result =
        (plim_run_result){ .device = program->facts.device, .failed_event = PLIM_NO_EVENT };
}

static plim_status run_device(const plim_trial_context *context, const plim_trial_setup *setup,
                              size_t device, plim_trial *trial, plim_error *err)
{
    const plim_replay_device_part *const part = &context->replay->devices.items[device];
    const plim_tune_row *const row = setup->row;
    asking who = { .watch = context->watch, .has_budget = setup->has_budget };
    plim_run_setup run = {
        .conf = &row->conf,
        .is_restored = !row->is_start_requested && plim_replay_is_restored(part, &row->conf),
        .capacity_bytes = setup->capacity_bytes,
        .others_bytes = setup->capacity_bytes == PLIM_UNLIMITED ? 0 : context->others_bytes,
        .costs = context->costs,
        .stops_at_failure = setup->stops_at_failure,
        .progress = ask,
        .progress_ctx = &who,
    };
    set_emptying(context, device, row, &run);
    plim_run_result result = { .device = part->asked->facts.device };
    const plim_status status = plim_run_program(part->asked, &run, &result, &trial->start_error);
    if (status == PLIM_OUT_OF_DEVICE_MEMORY) {
        note_no_start(part->asked, trial);
        return PLIM_OK;
    }
    if (status != PLIM_OK) {
        if (err != NULL) {
            *err = trial->start_error;
        }
        return status;
    }
    if (setup->ret_results != NULL) {
        setup->ret_results[device] = result;
    }
    trial->peak_bytes = plim_max(trial->peak_bytes, result.peak_reserved_bytes);
    if (trial->survives && !result.survives) {
        note_failure(part->asked, setup, &result, trial);
    } else if (trial->survives && trial->result.peak_reserved_bytes <= result.peak_reserved_bytes) {
        trial->result = result;
    }
    return PLIM_OK;
}

plim_status plim_trial_run(const plim_trial_context *context, const plim_trial_setup *setup,
                           plim_trial *ret_trial, plim_error *err)
{
    if (!plim_watch_asks(context->watch, setup->has_budget)) {
        return plim_fail(err, PLIM_CANCELLED, "the search was ended");
    }
    plim_trial trial = { .survives = true, .starts = true };
    for (size_t i = 0; i < context->replay->devices.count && trial.starts; i++) {
        if (trial.survives || setup->ret_results != NULL) {
            PLIM_TRY(run_device(context, setup, i, &trial, err));
        }
    }
    plim_watch_count(context->watch);
    *ret_trial = trial;
    return PLIM_OK;
}
