/*
 * diff.c - two histories, device by device.
 *
 *   code.c       frames of both to functions in common
 *   match.c      stacks of both to classes
 *   sums.c       what each class holds at a moment; per_step.c: what stays of it a step
 *   groups.c     sums to what users read
 */
#include "plimsoll/diff.h"

#include "base/assert.h"
#include "base/error.h"
#include "diff/groups.h"
#include "diff/per_step.h"

struct plim_diff_result {
    const plim_mem *mem;
    plim_arena arena;
    plim_diff_device *devices; /* in the arena */
    size_t device_count;
};

typedef struct diff_work {
    const plim_diff_options *options;
    plim_diff_result *result;
    plim_diff_code code;
    plim_diff_classes classes;
    plim_diff_sums sums;
} diff_work;

/* --- one device --- */

/* Both sides of a device; a side without it has no view. */
typedef struct sides {
    const plim_diff_calls *views[PLIM_DIFF_SIDES];
    plim_diff_device *device;
} sides;

static plim_status write_moment(diff_work *job, plim_diff_moment *moment, plim_error *err)
{
    const plim_diff_writer writer = { .code = &job->code,
                                      .classes = &job->classes,
                                      .arena = &job->result->arena };
    moment->is_known = true;
    const plim_status status = plim_diff_write_groups(&writer, &job->sums, moment, err);
    plim_diff_sums_reset(&job->sums);
    return status;
}

/* A moment that each side names; a side without the device holds nothing. */
static plim_status compare_at(diff_work *job, const sides *both, plim_diff_moment_kind kind,
                              const plim_moment_choice choices[PLIM_DIFF_SIDES], plim_error *err)
{
    plim_diff_moment *const moment = &both->device->moments[kind];
    plim_moment *const figures[] = { &moment->before, &moment->after };
    for (size_t i = 0; i < PLIM_DIFF_SIDES; i++) {
        const plim_diff_calls *const view = both->views[i];
        if (view == NULL) {
            *figures[i] = (plim_moment){ .event = PLIM_AT_START, .time_us = PLIM_TIME_UNKNOWN };
            continue;
        }
        int64_t event = PLIM_AT_START;
        PLIM_TRY(plim_device_view_moment(view->view, choices[i], &event, err));
        *figures[i] = plim_device_view_sums(view->view, event);
        if (!plim_diff_sums_add_live(&job->sums, (plim_diff_side_kind)i, view, event)) {
            return plim_fail_memory(err, "comparing histories");
        }
    }
    return write_moment(job, moment, err);
}

static const char *steps_unknown_because(const sides *both)
{
    if (both->views[PLIM_DIFF_BEFORE] == NULL || both->views[PLIM_DIFF_AFTER] == NULL) {
        return "only one side has this device";
    }
    const plim_device_view *const before = both->views[PLIM_DIFF_BEFORE]->view;
    const plim_device_view *const after = both->views[PLIM_DIFF_AFTER]->view;
    if (before == after) {
        return "both moments are of one history";
    }
    if (before->steps.count == 0 || after->steps.count == 0) {
        return before->steps.count == after->steps.count ? "no steps were found"
               : before->steps.count == 0                ? "no steps were found before"
                                                         : "no steps were found after";
    }
    return before->steps.count < PLIM_DIFF_STEPS_MIN || after->steps.count < PLIM_DIFF_STEPS_MIN
               ? "fewer than three steps were recorded"
               : NULL;
}

static plim_status compare_steps(diff_work *job, const sides *both, plim_error *err)
{
    plim_diff_moment *const moment = &both->device->moments[PLIM_DIFF_STEP];
    moment->unknown_because = steps_unknown_because(both);
    if (moment->unknown_because != NULL) {
        return PLIM_OK;
    }
    plim_moment *const figures[] = { &moment->before, &moment->after };
    for (size_t i = 0; i < PLIM_DIFF_SIDES; i++) {
        const plim_diff_calls *const view = both->views[i];
        *figures[i] =
            plim_device_view_sums(view->view, plim_diff_last_step_end(&view->view->steps));
        if (!plim_diff_sums_add_steps(&job->sums, (plim_diff_side_kind)i, view)) {
            return plim_fail_memory(err, "comparing histories");
        }
    }
    return write_moment(job, moment, err);
}

static plim_status compare_moments(diff_work *job, const sides *both, plim_error *err)
{
    const plim_moment_choice peak[] = { { .kind = PLIM_MOMENT_PEAK },
                                        { .kind = PLIM_MOMENT_PEAK } };
    const plim_moment_choice end[] = { { .kind = PLIM_MOMENT_END }, { .kind = PLIM_MOMENT_END } };
    PLIM_TRY(compare_at(job, both, PLIM_DIFF_PEAK, peak, err));
    PLIM_TRY(compare_at(job, both, PLIM_DIFF_END, end, err));
    PLIM_TRY(compare_steps(job, both, err));
    plim_diff_moment *const chosen = &both->device->moments[PLIM_DIFF_CHOSEN];
    if (job->options->before_at == NULL) {
        chosen->unknown_because = "no moments were chosen";
        return PLIM_OK;
    }
    const plim_moment_choice choices[] = { *job->options->before_at, *job->options->after_at };
    return compare_at(job, both, PLIM_DIFF_CHOSEN, choices, err);
}

/* Bytes that groups have grown or shrunk by, whichever is more. */
static double bytes_changed(const plim_diff_moment *moment)
{
    double growth = 0;
    double shrinkage = 0;
    for (size_t i = 0; i < moment->group_count; i++) {
        const double change = (double)moment->groups[i].change_bytes;
        growth += change > 0 ? change : 0;
        shrinkage -= change < 0 ? change : 0;
    }
    return growth > shrinkage ? growth : shrinkage;
}

/*
 * The moment that shows best what changed: the peak, or the end if more has changed there. Peaks
 * and ends of runs of different lengths are of different moments, so what stays of each step leads
 * there if it differs at all.
 */
static plim_diff_moment_kind lead_of(const plim_diff_device *device)
{
    const plim_diff_moment *const moments = device->moments;
    if (moments[PLIM_DIFF_CHOSEN].is_known) {
        return PLIM_DIFF_CHOSEN;
    }
    if (device->before_steps != device->after_steps &&
        bytes_changed(&moments[PLIM_DIFF_STEP]) > 0) {
        return PLIM_DIFF_STEP;
    }
    return bytes_changed(&moments[PLIM_DIFF_END]) > bytes_changed(&moments[PLIM_DIFF_PEAK])
               ? PLIM_DIFF_END
               : PLIM_DIFF_PEAK;
}

/* The views of a device; of one history both are one. */
typedef struct two_views {
    plim_device_view views[PLIM_DIFF_SIDES];
    plim_diff_calls calls[PLIM_DIFF_SIDES];
} two_views;

static plim_status view_sides(const diff_work *job,
                              const plim_device_history *const devices[PLIM_DIFF_SIDES],
                              two_views *views, sides *both, plim_error *err)
{
    for (size_t i = 0; i < PLIM_DIFF_SIDES; i++) {
        const plim_diff_side *const side = &job->code.sides[i];
        if (devices[i] != NULL && i > 0 && devices[i] == devices[0]) {
            both->views[i] = both->views[0];
        } else if (devices[i] != NULL) {
            PLIM_TRY(plim_device_view_init(&views->views[i], side->history, devices[i],
                                           job->result->mem, err));
            PLIM_TRY(plim_diff_calls_init(&views->calls[i], &views->views[i], side, err));
            both->views[i] = &views->calls[i];
        }
    }
    return PLIM_OK;
}

static plim_status compare_device(diff_work *job, const plim_device_history *before,
                                  const plim_device_history *after, plim_diff_device *device,
                                  plim_error *err)
{
    const plim_device_history *const any = before != NULL ? before : after;
    PLIM_ASSERT(any != NULL);
    *device = (plim_diff_device){ .device = any->device,
                                  .in_before = before != NULL,
                                  .in_after = after != NULL };
    const plim_device_history *const devices[] = { before, after };
    two_views views = { 0 };
    sides both = { .device = device };
    plim_status status = view_sides(job, devices, &views, &both, err);
    if (status == PLIM_OK && before != NULL) {
        device->before_steps = both.views[PLIM_DIFF_BEFORE]->view->steps.count;
        device->before_steps_source = both.views[PLIM_DIFF_BEFORE]->view->steps.source;
    }
    if (status == PLIM_OK && after != NULL) {
        device->after_steps = both.views[PLIM_DIFF_AFTER]->view->steps.count;
        device->after_steps_source = both.views[PLIM_DIFF_AFTER]->view->steps.source;
    }
    if (status == PLIM_OK) {
        status = compare_moments(job, &both, err);
        device->lead = lead_of(device);
    }
    for (size_t i = 0; i < PLIM_DIFF_SIDES; i++) {
        plim_diff_calls_deinit(&views.calls[i]);
        plim_device_view_deinit(&views.views[i]);
    }
    return status;
}

/* --- all devices --- */

/* By number; pinned host memory, whose number is below all, comes last. */
static bool is_before(const plim_device_history *one, const plim_device_history *other)
{
    return (uint32_t)one->device < (uint32_t)other->device;
}

static plim_status compare_devices(diff_work *job, plim_error *err)
{
    const plim_history *const before = job->code.sides[PLIM_DIFF_BEFORE].history;
    const plim_history *const after = job->code.sides[PLIM_DIFF_AFTER].history;
    const size_t before_count = plim_history_device_count(before);
    const size_t after_count = plim_history_device_count(after);
    if (before_count + after_count == 0) {
        return PLIM_OK;
    }
    plim_diff_device *const devices =
        plim_arena_alloc(&job->result->arena, (before_count + after_count) * sizeof *devices);
    if (devices == NULL) {
        return plim_fail_memory(err, "comparing histories");
    }
    job->result->devices = devices;
    for (size_t i = 0, k = 0; i < before_count || k < after_count;) {
        const plim_device_history *one = i < before_count ? plim_history_device(before, i) : NULL;
        const plim_device_history *other = k < after_count ? plim_history_device(after, k) : NULL;
        if (one != NULL && other != NULL && one->device != other->device) {
            *(is_before(one, other) ? &other : &one) = NULL;
        }
        PLIM_TRY(compare_device(job, one, other, &devices[job->result->device_count], err));
        job->result->device_count++;
        i += one != NULL;
        k += other != NULL;
    }
    return PLIM_OK;
}

static plim_status compare(diff_work *job, const plim_history *before, const plim_history *after,
                           plim_error *err)
{
    PLIM_TRY(plim_diff_code_init(&job->code, before, after, job->result->mem, err));
    PLIM_TRY(plim_diff_classes_init(&job->classes, &job->code, err));
    PLIM_TRY(plim_diff_sums_init(&job->sums, &job->classes, err));
    return compare_devices(job, err);
}

plim_status plim_diff(const plim_history *before, const plim_history *after,
                      const plim_diff_options *options, plim_diff_result **ret_result,
                      plim_error *err)
{
    const plim_diff_options chosen = options != NULL ? *options : (plim_diff_options){ 0 };
    const plim_mem *const mem = plim_mem_or_heap(chosen.mem);
    if ((chosen.before_at == NULL) != (chosen.after_at == NULL)) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "a moment is chosen for one side alone");
    }
    plim_diff_result *const result = plim_mem_alloc_zeroed(mem, 1, sizeof *result);
    if (result == NULL) {
        return plim_fail_memory(err, "comparing histories");
    }
    result->mem = mem;
    plim_arena_init(&result->arena, mem);
    diff_work job = { .options = &chosen, .result = result };
    const plim_status status = compare(&job, before, after, err);
    plim_diff_sums_deinit(&job.sums);
    plim_diff_classes_deinit(&job.classes);
    plim_diff_code_deinit(&job.code);
    if (status != PLIM_OK) {
        plim_diff_destroy(result);
        return status;
    }
    *ret_result = result;
    return PLIM_OK;
}

void plim_diff_destroy(plim_diff_result *result)
{
    if (result == NULL) {
        return;
    }
    plim_arena_deinit(&result->arena);
    plim_mem_free(result->mem, result, 1, sizeof *result);
}

size_t plim_diff_device_count(const plim_diff_result *result)
{
    return result->device_count;
}

const plim_diff_device *plim_diff_device_at(const plim_diff_result *result, size_t index)
{
    PLIM_ASSERT(index < result->device_count);
    return &result->devices[index];
}
