/*
 * tuning.c - the allocator's settings: the figure is that of a search of replays.
 */
#include "diagnose/advice/fixes.h"

#include "base/error.h"
#include "plimsoll/replay.h"

#include <stdio.h>
#include <string.h>

/* Few, so that the budget ends the search only of very long recordings, and the advice for a file
 * is the same on every machine. */
static const char *const candidates[] = {
    "expandable_segments:True",
    "max_split_size_mb:128",
    "max_split_size_mb:512",
    "roundup_power2_divisions:8",
};

/* The finding that settings answer: fragmented, or a failure. NULL: the peak as such. */
static const plim_diagnosis_finding *answered(const plim_case *one)
{
    for (size_t i = 0; i < one->findings.count; i++) {
        if (one->findings.items[i].kind == PLIM_VERDICT_FRAGMENTED) {
            return &one->findings.items[i];
        }
    }
    return NULL;
}

static const char *write_change(plim_arena *arena, const plim_tune_row *row)
{
    const char *const before = row->empty_cache == PLIM_EMPTY_NEVER
                                   ? "export PYTORCH_CUDA_ALLOC_CONF="
                                   : "torch.cuda.empty_cache()  # with PYTORCH_CUDA_ALLOC_CONF=";
    const size_t bytes = strlen(before) + strlen(row->conf.text) + 1;
    char *const text = plim_arena_alloc(arena, bytes);
    if (text != NULL) {
        snprintf(text, bytes, "%s%s", before, row->conf.text);
    }
    return text;
}

static plim_status add_best(plim_case *one, const plim_tuning *tuning, plim_advice_list *list,
                            plim_error *err)
{
    const plim_tune_row *const best = &tuning->rows[tuning->best];
    const plim_tune_row *const now = &tuning->rows[tuning->reference];
    if (best->is_recorded || best->is_too_new ||
        best->min_capacity_bytes >= now->min_capacity_bytes) {
        return PLIM_OK;
    }
    const plim_diagnosis_finding *const finding = answered(one);
    const plim_diagnosis_advice advice = {
        .finding = finding != NULL ? finding->finding.id : NULL,
        .technique = best->conf.settings.expandable_segments
                         ? plim_setting_key_name(PLIM_KEY_EXPANDABLE_SEGMENTS)
                     : best->empty_cache != PLIM_EMPTY_NEVER ? "empty_cache"
                                                             : "allocator_settings",
        .text = "Run with these settings of the allocator: the same requests then fit a smaller "
                "device. The program stays as it is.",
        .has_saving = true,
        .saves_bytes = now->min_capacity_bytes - best->min_capacity_bytes,
        .basis = PLIM_BASIS_REPLAYED,
        .cost = "a few more calls of the driver",
        .cost_rank = 0.01,
        .change = write_change(one->arena, best),
    };
    return advice.change != NULL &&
                   plim_advice_add(list, &advice, finding != NULL && finding->decides)
               ? PLIM_OK
               : plim_fail_memory(err, "working out what helps");
}

plim_status plim_advise_settings(plim_case *one, plim_advice_list *list, plim_error *err)
{
    if (!(one->options->budget_seconds > 0) || one->facts->events == 0 ||
        one->device->device == PLIM_HOST_DEVICE) {
        return PLIM_OK;
    }
    const plim_replay_options options = { .mem = one->mem, .device = one->device->device };
    plim_replay *replay = NULL;
    plim_status status = plim_replay_create(one->history, &options, &replay, err);
    plim_tuning *tuning = NULL;
    if (status == PLIM_OK) {
        const plim_tune_options tune = { .capacity_bytes = one->capacity_bytes > 0
                                                               ? one->capacity_bytes
                                                               : PLIM_UNLIMITED,
                                         .confs = candidates,
                                         .conf_count = sizeof candidates / sizeof candidates[0],
                                         .only_given = true,
                                         .budget_s = one->options->budget_seconds,
                                         .mem = one->mem };
        status = plim_replay_tune(replay, &tune, &tuning, err);
    }
    if (status == PLIM_OK) {
        status = add_best(one, tuning, list, err);
    }
    plim_tuning_destroy(tuning);
    plim_replay_destroy(replay);
    /* A history that cannot be run again, or a start that does not fit, has no such advice. */
    return status == PLIM_OUT_OF_HOST_MEMORY ? status : PLIM_OK;
}
