/*
 * tried.c - settings of the allocator that are advised, each rehearsed. See plimsoll/rehearse.h.
 *
 * Only where they can help: what must be allocated at once fits. As in need.c, nothing that goes
 * wrong here takes an answer away.
 */
#include "base/error.h"
#include "rehearse/again.h"
#include "rehearse/rehearsal.h"

#include "plimsoll/settings.h"

#include <string.h>

#define VARIABLE "export PYTORCH_CUDA_ALLOC_CONF="

#define KEY_BIT(key) ((uint32_t)1 << (key))

typedef struct one_try {
    plim_rehearsed_tried *tried;
    bool is_in_effect;
} one_try;

/* ---- the settings ---------------------------------------------------------------------------- */

/* Those of the process that ran out. */
static const char *find_in_force(const plim_rehearsal_outcome *outcome)
{
    for (size_t i = 0; i < outcome->process_count; i++) {
        if (strcmp(outcome->processes[i].ended, "oom") == 0) {
            return outcome->processes[i].settings;
        }
    }
    return "";
}

/* What is advised, over what is in force. Segments that grow stand in the place of settings that do
 * not go with them (docs/formats/fixes.md). False: it is nothing to try. */
static bool merge(const char *in_force, const plim_advice *advice, char *text, size_t bytes)
{
    const char *command = advice->command;
    plim_settings settings = plim_settings_default();
    plim_settings wanted = settings;
    if (command == NULL || strncmp(command, VARIABLE, strlen(VARIABLE)) != 0 ||
        plim_settings_parse(command + strlen(VARIABLE), &wanted, NULL) != PLIM_OK ||
        (in_force[0] != '\0' && plim_settings_parse(in_force, &settings, NULL) != PLIM_OK)) {
        return false;
    }
    switch (wanted.given) { /* other backends, and several settings at once, are not tried */
    case KEY_BIT(PLIM_KEY_EXPANDABLE_SEGMENTS):
        settings.expandable_segments = wanted.expandable_segments;
        settings.max_split_bytes = PLIM_UNLIMITED;
        settings.garbage_collection_threshold = 0;
        break;
    case KEY_BIT(PLIM_KEY_MAX_SPLIT_SIZE_MB):
        settings.max_split_bytes = wanted.max_split_bytes;
        break;
    case KEY_BIT(PLIM_KEY_GARBAGE_COLLECTION_THRESHOLD):
        settings.garbage_collection_threshold = wanted.garbage_collection_threshold;
        break;
    default:
        return false;
    }
    return plim_settings_format(&settings, text, bytes) < bytes;
}

/* ---- one of them ----------------------------------------------------------------------------- */

/* False where a program chose settings itself, or the allocator did not take them. */
static bool is_in_effect(const plim_rehearsal_outcome *outcome, const char *settings)
{
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        if (strcmp(process->settings, settings) != 0) {
            return false;
        }
        for (size_t j = 0; j < process->fact_count; j++) {
            const plim_rehearsed_fact *fact = &process->facts[j];
            if (strcmp(fact->name, "expandable segments") == 0 && fact->effect != NULL &&
                strcmp(fact->effect, "no") == 0) {
                return false;
            }
        }
    }
    return true;
}

static plim_status judge_try(void *ctx, const plim_rehearsed *again, plim_error *err)
{
    one_try *const self = ctx;
    plim_rehearsed_tried *tried = self->tried;
    const plim_rehearsal_outcome *outcome = again->outcome;
    (void)err;
    self->is_in_effect = is_in_effect(outcome, tried->settings);
    tried->verdict =
        again->launched.timed_out ? PLIM_REHEARSED_FAILED : plim_rehearsed_judge(again);
    tried->peak = plim_rehearsed_find_peak(outcome);
    tried->has_all = true;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const uint64_t steps = outcome->processes[i].steps;
        tried->steps = steps > tried->steps ? steps : tried->steps;
        tried->has_all = tried->has_all && strcmp(outcome->processes[i].ended, "steps") != 0;
    }
    return PLIM_OK;
}

/* *ret_is_answered: it belongs into the list. */
static plim_status try_one(plim_rehearsed *rehearsed, const plim_rehearse_options *options,
                           plim_rehearsed_tried *tried, bool *ret_is_answered,
                           bool *ret_is_interrupted, plim_error *err)
{
    plim_rehearse_options how = plim_again_options(rehearsed, options);
    how.settings = tried->settings;
    one_try self = { .tried = tried };
    plim_error why = { 0 };
    const plim_status status =
        plim_again(rehearsed, &how, judge_try, &self, ret_is_interrupted, &why);
    *ret_is_answered = status == PLIM_OK && !*ret_is_interrupted && self.is_in_effect;
    return status == PLIM_OUT_OF_HOST_MEMORY ? plim_fail_memory(err, "trying settings") : PLIM_OK;
}

plim_status plim_rehearse_advised(plim_rehearsed *rehearsed, const plim_rehearse_options *options,
                                  plim_error *err)
{
    const plim_oom_message *message = rehearsed->message;
    if (message == NULL || !rehearsed->ran_out || !plim_rehearsed_is_held_by_cache(rehearsed)) {
        return PLIM_OK;
    }
    plim_arena *arena = &rehearsed->rehearsal->arena;
    plim_rehearsed_tried *all = plim_arena_alloc(arena, PLIM_TRIED_MAX * sizeof(*all));
    if (all == NULL) {
        return plim_fail_memory(err, "trying settings");
    }
    const char *in_force = find_in_force(rehearsed->outcome);
    bool is_interrupted = false;
    size_t runs = 0;
    rehearsed->tried = all;
    rehearsed->tried_count = 0;
    for (size_t i = 0; i < message->advice_count && runs < PLIM_TRIED_MAX && !is_interrupted; i++) {
        char text[PLIM_SETTINGS_TEXT_BYTES];
        if (!merge(in_force, &message->advice[i], text, sizeof(text))) {
            continue;
        }
        plim_rehearsed_tried *tried = &all[rehearsed->tried_count];
        *tried = (plim_rehearsed_tried){ .settings = plim_arena_copy(arena, text, strlen(text)) };
        if (tried->settings == NULL) {
            return plim_fail_memory(err, "trying settings");
        }
        bool is_answered = false;
        PLIM_TRY(try_one(rehearsed, options, tried, &is_answered, &is_interrupted, err));
        rehearsed->tried_count += is_answered;
        runs++;
    }
    return PLIM_OK;
}
