/*
 * need.c - what a program that ran out would need: once more, without the limit. See
 * plimsoll/rehearse.h.
 *
 * Nothing that goes wrong here takes the first answer away: it becomes the reason for which the
 * need is unknown, or a lower bound.
 */
#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "base/text.h"
#include "rehearse/advise.h"
#include "rehearse/again.h"
#include "rehearse/rehearsal.h"

#include "plimsoll/trend.h"

#include <string.h>

#define REASON_BYTES_MAX 300u

/* ---- options ------------------------------------------------------------------------------ */

/* As in the first run, but for the limit, and with a history to sort the peak by. */
static plim_rehearse_options options_without_limit(const plim_rehearsed *rehearsed,
                                                   const plim_rehearse_options *options)
{
    plim_rehearse_options how = plim_again_options(rehearsed, options);
    const uint64_t capacity_bytes = rehearsed->outcome->capacity_bytes;
    how.capacity_bytes = capacity_bytes < UINT64_MAX / PLIM_NEED_CAPACITY_TIMES
                             ? capacity_bytes * PLIM_NEED_CAPACITY_TIMES
                             : capacity_bytes;
    how.capacity_bytes = plim_max(how.capacity_bytes, PLIM_NEED_CAPACITY_LEAST);
    how.keeps_snapshots = true;
    return how;
}

/* ---- its outcome ------------------------------------------------------------------------- */

static const char *keep_text(plim_arena *arena, const char *text)
{
    const size_t length = strlen(text);
    return plim_arena_copy(arena, text, length < REASON_BYTES_MAX ? length : REASON_BYTES_MAX);
}

/* The process and the device with the highest peak. */
static const plim_rehearsed_device *find_busiest(const plim_rehearsal_outcome *outcome,
                                                 const plim_rehearsed_process **ret_process)
{
    const plim_rehearsed_device *found = NULL;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        for (size_t j = 0; j < process->device_count; j++) {
            const plim_rehearsed_device *device = &process->devices[j];
            if (found == NULL || device->peak_allocated_bytes > found->peak_allocated_bytes) {
                found = device;
                *ret_process = process;
            }
        }
    }
    return found;
}

/* The growth, with each step, of what stays after it, if that never ends. */
static plim_status find_growth(const plim_rehearsed_device *device, const plim_mem *mem,
                               uint64_t *ret, plim_error *err)
{
    const size_t count = device->step_count;
    double *bytes = plim_mem_alloc(mem, count + 1, sizeof(*bytes));
    if (bytes == NULL) {
        return plim_fail_memory(err, "looking for growth");
    }
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (double)device->steps[i].end_allocated_bytes;
    }
    plim_trend trend = { 0 };
    const plim_trend_input input = { .bytes = bytes, .count = count };
    const plim_status status = plim_trend_of(&input, mem, &trend, err);
    plim_mem_free(mem, bytes, count + 1, sizeof(*bytes));
    PLIM_TRY(status);
    *ret = trend.kind == PLIM_TREND_LEAK && trend.growth_bytes_per_step >= 1
               ? (uint64_t)trend.growth_bytes_per_step
               : 0;
    return PLIM_OK;
}

static bool has_phase(const plim_rehearsed_device *device, const char *name)
{
    for (size_t i = 0; i < device->phase_count; i++) {
        if (strcmp(device->phases[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool asks_for_free(const plim_rehearsal_outcome *outcome)
{
    for (size_t i = 0; i < outcome->call_count; i++) {
        const char *name = outcome->calls[i].name;
        if (strncmp(name, "cudaMemGetInfo", strlen("cudaMemGetInfo")) == 0 ||
            strncmp(name, "cuMemGetInfo", strlen("cuMemGetInfo")) == 0) {
            return true;
        }
    }
    return false;
}

/* True if the second run got further than the first: else its figures say nothing new. */
static bool got_further(const plim_rehearsed *first, const plim_rehearsed *second)
{
    return plim_rehearsed_find_peak(second->outcome).device_bytes > first->outcome->capacity_bytes;
}

static void write_failure(const plim_rehearsed *second, plim_text *text)
{
    const plim_rehearsed_process *process = plim_reason_process(second->outcome);
    plim_text_append_format(text, "without the limit it ended with exit status %d",
                            second->exit_status);
    if (process != NULL) {
        plim_text_append_format(text, ": %s", process->exception);
    }
}

/* Why the figures of the second run are lower bounds, or hold nothing; empty: they hold. */
static void write_doubt(const plim_rehearsed *second, plim_text *text, bool *ret_is_void)
{
    *ret_is_void = false;
    if (second->launched.timed_out) {
        plim_text_append_format(text, "the second run was ended after %.0f seconds",
                                second->launched.seconds);
        return;
    }
    switch (plim_rehearsed_judge(second)) {
    case PLIM_REHEARSED_FITS:
    case PLIM_REHEARSED_TIGHT:
        break;
    case PLIM_REHEARSED_AT_LEAST:
        plim_text_append_string(text, "sizes hang on values that were not computed here");
        break;
    case PLIM_REHEARSED_OUT_OF_MEMORY:
        plim_text_append_format(text, "%s were not enough either",
                                plim_format_bytes(second->outcome->capacity_bytes).text);
        break;
    case PLIM_REHEARSED_FAILED:
        write_failure(second, text);
        break;
    case PLIM_REHEARSED_UNANSWERED:
        *ret_is_void = true;
        plim_text_append_string(text,
                                "without the limit it called a function that has no stand-in");
        break;
    }
}

static plim_status measure(const plim_rehearsed *second, const plim_rehearse_options *how,
                           plim_arena *arena, plim_rehearsed_need *need, plim_error *err)
{
    const plim_rehearsal_outcome *outcome = second->outcome;
    const plim_rehearsed_process *process = NULL;
    const plim_rehearsed_device *device = find_busiest(outcome, &process);
    need->peak = plim_rehearsed_find_peak(outcome);
    need->bar = plim_rehearsed_find_bar(outcome);
    need->asks_for_free = asks_for_free(outcome);
    need->phase = "";
    need->has_all = true;
    if (device == NULL) {
        return PLIM_OK;
    }
    need->step = device->peak_step;
    need->phase = keep_text(arena, device->peak_phase);
    need->steps = process->steps;
    need->has_all = process->steps < how->steps;
    need->has_backward = has_phase(device, "backward");
    need->has_optimizer = has_phase(device, "optimizer");
    if (need->phase == NULL) {
        return plim_fail_memory(err, "keeping what a program needs");
    }
    need->has_categories =
        process->snapshot_path != NULL &&
        plim_need_parts(process->snapshot_path, device->device, device->peak_allocated_bytes,
                        arena->mem, need->category_bytes);
    PLIM_TRY(find_growth(device, arena->mem, &need->growth_bytes, err));
    if (need->growth_bytes > 0 && need->why_at_least == NULL) {
        need->why_at_least = "what it keeps grows with each step";
    }
    return PLIM_OK;
}

typedef struct asked {
    const plim_rehearsed *first;
    const plim_rehearse_options *how;
    plim_rehearsed_need *need;
} asked;

static plim_status judge_need(void *ctx, const plim_rehearsed *second, plim_error *err)
{
    const asked *const self = ctx;
    plim_rehearsed_need *need = self->need;
    plim_arena *arena = &self->first->rehearsal->arena;
    plim_text text;
    plim_text_init(&text, arena->mem, REASON_BYTES_MAX * 2);
    bool is_void = false;
    write_doubt(second, &text, &is_void);
    plim_status status = plim_text_status(&text, "judging what a program needs", err);
    const char *doubt = NULL;
    if (status == PLIM_OK && text.length > 0) {
        doubt = keep_text(arena, plim_text_string(&text));
        status = doubt == NULL ? plim_fail_memory(err, "judging what a program needs") : PLIM_OK;
    }
    plim_text_deinit(&text);
    PLIM_TRY(status);
    if (doubt != NULL && (is_void || !got_further(self->first, second))) {
        need->why_unknown = doubt;
        return PLIM_OK;
    }
    need->why_at_least = doubt;
    return measure(second, self->how, arena, need, err);
}

/* ---- the second run -------------------------------------------------------------------------- */

plim_status plim_rehearse_need(plim_rehearsed *rehearsed, const plim_rehearse_options *options,
                               plim_error *err)
{
    plim_arena *arena = &rehearsed->rehearsal->arena;
    plim_rehearsed_need *need = plim_arena_alloc(arena, sizeof(*need));
    if (need == NULL) {
        return plim_fail_memory(err, "asking what a program needs");
    }
    *need = (plim_rehearsed_need){ 0 };
    const plim_rehearse_options how = options_without_limit(rehearsed, options);
    plim_error why = { 0 };
    bool is_interrupted = false;
    asked self = { .first = rehearsed, .how = &how, .need = need };
    const plim_status status =
        plim_again(rehearsed, &how, judge_need, &self, &is_interrupted, &why);
    if (is_interrupted) {
        *need = (plim_rehearsed_need){ .why_unknown = "the second run was interrupted" };
    } else if (status != PLIM_OK) {
        *need = (plim_rehearsed_need){ .why_unknown = keep_text(arena, why.message) };
    }
    if (status == PLIM_OUT_OF_HOST_MEMORY || (status != PLIM_OK && need->why_unknown == NULL)) {
        return plim_fail_memory(err, "asking what a program needs");
    }
    rehearsed->need = need;
    return plim_rehearsal_advise(rehearsed, err);
}
