/*
 * series_result.c - from tracks to series.
 *
 * Only now, with all points seen, can bare numbers be given a unit and printed steps be judged.
 * docs/design/series.md argues for both rules.
 */
#include "oomtext/series_result.h"

#include "base/error.h"

#include <math.h>

/* No accelerator has 512 GiB, and no run that is worth a log needs less than 512 MiB. */
#define BARE_GIB_MAX   512.0
#define BARE_MIB_MIN   100.0
#define BARE_BYTES_MIN 2097152.0 /* 2^21: as MiB, 2 TiB */
#define BARE_SHARE_MAX 1.0

static double largest(const plim_series_track *track)
{
    double most = 0;
    for (size_t i = 0; i < track->points.count; i++) {
        most = fmax(most, track->points.items[i].value);
    }
    return most;
}

/* The unit of bare numbers, by what they look like; PLIM_UNIT_NONE if nothing can be said. */
static int8_t unit_of_bare(const plim_series_track *track)
{
    const double most = largest(track);
    if (most >= BARE_BYTES_MIN) {
        return 0;
    }
    if (track->all_whole) {
        return most >= BARE_MIB_MIN ? 20 : PLIM_UNIT_NONE;
    }
    if (most <= BARE_SHARE_MAX) {
        return PLIM_UNIT_NONE; /* as well a share */
    }
    return most < BARE_GIB_MAX ? 30 : 20;
}

/*
 * Whether the printed steps say more than counting: they hardly run back, and most points have
 * one of their own. A counter that starts anew with each epoch runs back by all it has.
 */
static bool steps_are_good(const plim_series_track *track)
{
    if (track->step_name == NULL) {
        return false;
    }
    double back = 0;
    double low = track->points.items[0].step;
    double high = low;
    size_t changes = 1;
    for (size_t i = 1; i < track->points.count; i++) {
        const double step = track->points.items[i].step;
        const double before = track->points.items[i - 1].step;
        back += fmax(before - step, 0);
        changes += step == before ? 0 : 1;
        low = fmin(low, step);
        high = fmax(high, step);
    }
    return back <= (high - low) / 2 && changes >= (track->points.count + 1) / 2;
}

/* Most telling first. */
static bool goes_before(const plim_series_track *a, const plim_series_track *b)
{
    if (a->kind != b->kind) {
        return a->kind < b->kind;
    }
    if (a->seen != b->seen) {
        return a->seen > b->seen;
    }
    return a->first_line < b->first_line;
}

static size_t choose(const plim_series_tracks *tracks, const plim_series_track **ret)
{
    size_t count = 0;
    for (uint32_t i = 0; i < tracks->count; i++) {
        const plim_series_track *const track = &tracks->items[i];
        if (track->points.count < PLIM_SERIES_POINTS_MIN ||
            (track->unit_log2 < 0 && unit_of_bare(track) == PLIM_UNIT_NONE)) {
            continue;
        }
        size_t at = count++;
        for (; at > 0 && goes_before(track, ret[at - 1]); at--) {
            ret[at] = ret[at - 1];
        }
        ret[at] = track;
    }
    return count;
}

/* What is free or never moves does not leak when it rises. */
static void tame_trend(const plim_series_track *track, plim_trend *trend)
{
    if ((track->kind == PLIM_SERIES_FREE || track->kind == PLIM_SERIES_TOTAL) &&
        trend->kind != PLIM_TREND_TOO_SHORT) {
        trend->kind = PLIM_TREND_FLAT;
        trend->growth_bytes_per_step = 0;
        trend->growth_low_bytes_per_step = 0;
        trend->growth_high_bytes_per_step = 0;
        trend->onset_step = trend->first_step;
        trend->riser_count = 0;
        trend->riser_bytes = 0;
        trend->riser_period_steps = 0;
        trend->has_exhaustion = false;
        trend->exhaustion_step = 0;
    }
}

static plim_status fill(const plim_series_track *track, double capacity_bytes, const plim_mem *mem,
                        plim_arena *arena, plim_series *ret, plim_error *err)
{
    static const char *const names[] = { "", "KiB", "MiB", "GiB", "TiB" };
    const bool is_bare = track->unit_log2 < 0;
    const int8_t log2 = is_bare ? unit_of_bare(track) : track->unit_log2;
    const size_t count = track->points.count;
    double *const steps = plim_arena_alloc(arena, count * sizeof *steps);
    double *const bytes = plim_arena_alloc(arena, count * sizeof *bytes);
    const char *const name = plim_arena_copy(arena, track->name, track->name_length);
    const char *unit = names[log2 / 10];
    if (!is_bare && log2 > 0) {
        size_t length = 0;
        while (track->unit[length] != '\0') {
            length++;
        }
        unit = plim_arena_copy(arena, track->unit, length);
    }
    if (steps == NULL || bytes == NULL || name == NULL || unit == NULL) {
        return plim_fail_memory(err, "reading a log");
    }
    const bool has_steps = steps_are_good(track);
    for (size_t i = 0; i < count; i++) {
        const plim_series_point point = track->points.items[i];
        steps[i] = has_steps ? point.step : (double)(i * track->stride);
        bytes[i] = ldexp(point.value, log2);
    }
    *ret = (plim_series){ .name = name,
                          .step_name = has_steps ? track->step_name : NULL,
                          .unit = unit,
                          .steps = steps,
                          .bytes = bytes,
                          .count = count,
                          .seen = track->seen,
                          .first_line = track->first_line,
                          .last_line = track->last_line };
    PLIM_TRY(plim_trend_of(steps, bytes, count, capacity_bytes, mem, &ret->trend, err));
    tame_trend(track, &ret->trend);
    return PLIM_OK;
}

plim_status plim_series_results(const plim_series_tracks *tracks, double capacity_bytes,
                                plim_arena *arena, const plim_series **ret, size_t *ret_count,
                                plim_error *err)
{
    const plim_series_track *chosen[PLIM_SERIES_MAX];
    const size_t count = choose(tracks, chosen);
    plim_series *const all = plim_arena_alloc(arena, count * sizeof *all);
    if (all == NULL) {
        return plim_fail_memory(err, "reading a log");
    }
    for (size_t i = 0; i < count; i++) {
        PLIM_TRY(fill(chosen[i], capacity_bytes, tracks->mem, arena, &all[i], err));
    }
    *ret = all;
    *ret_count = count;
    return PLIM_OK;
}
