/*
 * running.c - see running.h.
 */
#include "cli/running.h"

#include "cli/command.h"
#include "cli/diagnosing.h"
#include "cli/reading.h"

#include <string.h>

#define TUNE_BUDGET_S   2.0 /* the page is waited for */
#define TUNE_EVENTS_MAX 5000000u

static bool is_of_memory(const plim_ran *ran)
{
    return ran->message != NULL && ran->message->judgement.verdict != PLIM_VERDICT_NOT_OOM;
}

/* The judgement of the error's text goes with it: the page has one verdict. */
static bool diagnose(const char *who, const plim_ran *ran, plim_ran_account *self)
{
    const plim_diagnose_options options = {
        .judgements = is_of_memory(ran) ? &ran->message->judgement : NULL,
        .judgement_count = is_of_memory(ran) ? 1 : 0,
        .holders = self->holders,
        .budget_seconds = PLIM_DIAGNOSE_BUDGET_S,
    };
    plim_error err = { .offset = PLIM_NO_OFFSET };
    if (ran->main_snapshot == NULL) {
        return false;
    }
    const char *const path = ran->main_snapshot->snapshot_path;
    if (plim_diagnosed_load(path, &options, &self->diagnosed, &err) != PLIM_OK) {
        plim_reading_failed(who, path, &err);
        return false;
    }
    self->found.diagnosed = &self->diagnosed;
    return true;
}

static void read_holders(const char *who, const plim_ran *ran, plim_ran_account *self)
{
    const char *path = ran->main_dump->holders_path;
    if (path == NULL && ran->main_snapshot != NULL) {
        path = ran->main_snapshot->holders_path;
    }
    plim_error err = { .offset = PLIM_NO_OFFSET };
    if (path != NULL && plim_holders_read(path, NULL, &self->holders, &err) != PLIM_OK) {
        plim_reading_failed(who, path, &err);
    }
    self->found.holders = self->holders;
}

static uint64_t event_count(const plim_history *history)
{
    uint64_t count = 0;
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        count += plim_history_device(history, i)->events.count;
    }
    return count;
}

/* Settings under which it would have lived. A history that cannot be replayed has none. */
static void tune(const plim_ran *ran, plim_ran_account *self)
{
    const size_t device = plim_run_device(ran, &self->found);
    if (device == SIZE_MAX || event_count(self->diagnosed.history) > TUNE_EVENTS_MAX) {
        return;
    }
    self->arguments = plim_replay_arguments_default();
    self->arguments.device = plim_diagnosis_device(self->diagnosed.diagnosis, device)->device;
    self->files[0] = (char *)(uintptr_t)self->diagnosed.path;
    self->arguments.asked.files = self->files;
    self->arguments.asked.file_count = 1;
    if (plim_replaying_of(self->diagnosed.history, &self->arguments, &self->replaying, NULL) !=
            PLIM_OK ||
        self->replaying.input.capacity_bytes == PLIM_UNLIMITED) {
        return;
    }
    const plim_tune_options how = {
        .capacity_bytes = self->replaying.input.capacity_bytes,
        .is_capacity_bound = plim_replay_is_capacity_bound(&self->replaying.input),
        .budget_s = TUNE_BUDGET_S,
    };
    if (plim_replay_tune(self->replaying.replay, &how, &self->tuning, NULL) == PLIM_OK) {
        self->found.replayed = &self->replaying.input;
        self->found.tuning = self->tuning;
    }
}

void plim_ran_account_find(const char *who, const plim_ran *ran, plim_ran_account *ret)
{
    *ret = (plim_ran_account){ 0 };
    if (ran->main_dump == NULL) {
        return;
    }
    read_holders(who, ran, ret);
    if (diagnose(who, ran, ret) && strcmp(ran->main_dump->reason, "oom") == 0) {
        tune(ran, ret);
    }
}

void plim_ran_account_end(plim_ran_account *self)
{
    plim_tuning_destroy(self->tuning);
    plim_replaying_end(&self->replaying);
    plim_holders_destroy(self->holders);
    plim_diagnosed_unload(&self->diagnosed);
    *self = (plim_ran_account){ 0 };
}
