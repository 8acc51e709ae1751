/*
 * replaying.c - from a file to a replay whose fidelity is known. See replaying.h.
 */
#include "cli/replaying.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/reading.h"

#include <stdlib.h>

int plim_replaying_failed(const plim_replaying *self, const plim_error *err)
{
    plim_say(self->who, "%s: %s", plim_reading_name(self->arguments->asked.files[0]), err->message);
    return err->status == PLIM_INVALID_ARGUMENT ? PLIM_EXIT_USAGE : PLIM_EXIT_FAILED;
}

static int load(plim_replaying *self)
{
    const char *const path = self->arguments->asked.files[0];
    plim_error err = { 0 };
    if (plim_reading_history(path, &self->history, &err) != PLIM_OK) {
        plim_reading_failed(self->who, path, &err);
        return PLIM_EXIT_FAILED;
    }
    return PLIM_EXIT_OK;
}

/* ---- the replay ------------------------------------------------------------------------------ */

static plim_status prepare(plim_replaying *self, plim_error *err)
{
    const plim_replay_arguments *arguments = self->arguments;
    const plim_replay_options options = {
        .device = arguments->device,
        .from_event = arguments->from_event,
        .to_event = arguments->to_event,
        .from_step = arguments->from_step,
        .to_step = arguments->to_step,
        .scales = arguments->scales,
        .scale_count = arguments->scale_count,
    };
    PLIM_TRY(plim_replay_create(self->history, &options, &self->replay, err));
    const size_t count = plim_replay_device_count(self->replay);
    self->facts = calloc(count, sizeof *self->facts);
    self->fidelity = calloc(count, sizeof *self->fidelity);
    if (self->facts == NULL || self->fidelity == NULL) {
        return plim_fail_memory(err, "listing devices");
    }
    for (size_t i = 0; i < count; i++) {
        self->facts[i] = *plim_replay_device(self->replay, i);
    }
    self->input = (plim_replay_input){
        .path = arguments->asked.files[0],
        .history = self->history,
        .facts = self->facts,
        .fidelity = self->fidelity,
        .device_count = count,
        .scales = arguments->scales,
        .scale_count = arguments->scale_count,
        .has_range = arguments->has_range,
    };
    return PLIM_OK;
}

/* The user's, else the GPU's, else the smallest that the file gives. */
static void choose_capacity(plim_replaying *self)
{
    plim_replay_input *input = &self->input;
    const plim_replay_arguments *arguments = self->arguments;
    input->capacity_bytes = PLIM_UNLIMITED;
    if (arguments->capacity_bytes > 0) {
        input->capacity = PLIM_REPLAY_CAPACITY_ASKED;
        input->capacity_bytes = arguments->capacity_bytes;
        return;
    }
    if (arguments->gpu != NULL) {
        input->capacity = PLIM_REPLAY_CAPACITY_GPU;
        input->gpu = arguments->gpu;
        input->capacity_bytes = arguments->gpu->memory_bytes - arguments->gpu->context_bytes;
        return;
    }
    for (size_t i = 0; i < input->device_count; i++) {
        if (self->facts[i].capacity_source != PLIM_CAPACITY_UNKNOWN &&
            self->facts[i].capacity_bytes < input->capacity_bytes) {
            input->capacity_bytes = self->facts[i].capacity_bytes;
            input->capacity_device = i;
        }
    }
}

uint64_t plim_replaying_total_bytes(const plim_replaying *self)
{
    const plim_replay_arguments *arguments = self->arguments;
    if (arguments->total_bytes > 0) {
        return arguments->total_bytes;
    }
    return arguments->gpu != NULL ? arguments->gpu->memory_bytes : 0;
}

plim_run_options plim_replaying_run_options(const plim_replaying *self, plim_progress_bar *bar)
{
    return (plim_run_options){
        .capacity_bytes = self->input.capacity_bytes,
        .total_bytes = plim_replaying_total_bytes(self),
        .costs = &self->arguments->costs,
        .progress = plim_progress_bar_update,
        .progress_ctx = bar,
    };
}

static plim_status verify(plim_replaying *self, plim_error *err)
{
    plim_progress_bar bar;
    plim_progress_bar_init(&bar, "comparing", &(plim_progress_options){ .noun = "events" });
    plim_run_options options = plim_replaying_run_options(self, &bar);
    options.capacity_bytes = PLIM_UNLIMITED; /* as it was recorded, whatever it is asked about */
    const plim_status status = plim_replay_verify(self->replay, &options, self->fidelity, err);
    plim_progress_bar_finish(&bar);
    return status;
}

int plim_replaying_begin(const char *who, const plim_replay_arguments *arguments,
                         plim_replaying *ret)
{
    *ret = (plim_replaying){ .who = who, .arguments = arguments };
    const int loaded = load(ret);
    if (loaded != PLIM_EXIT_OK) {
        return loaded;
    }
    plim_error err = { 0 };
    plim_status status = prepare(ret, &err);
    if (status == PLIM_OK) {
        choose_capacity(ret);
        status = verify(ret, &err);
    }
    return status == PLIM_OK ? PLIM_EXIT_OK : plim_replaying_failed(ret, &err);
}

void plim_replaying_end(plim_replaying *self)
{
    free(self->facts);
    free(self->fidelity);
    plim_replay_destroy(self->replay);
    plim_history_destroy(self->history);
    *self = (plim_replaying){ 0 };
}
