/*
 * result.c - from tracks to series.
 *
 * Only now, with all points seen, can bare numbers be given a unit, printed steps be judged, and
 * totals be distinguished from sums. docs/design/series.md argues for the rules.
 */
#include "series/result.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No accelerator has 512 GiB, and no run that is worth a log needs less than 512 MiB. */
#define BARE_GIB_MAX   512.0
#define BARE_MIB_MIN   100.0
#define BARE_BYTES_MIN 2097152.0 /* 2^21: as MiB, 2 TiB */
#define BARE_SHARE_MAX 1.0

/* ps and /proc print KiB: of whole numbers between 256 MiB and 256 GiB in KiB that are no multiples
 * of what allocators round to, for those would be bytes. */
#define BARE_KIB_MIN    262144.0    /* 2^18: as MiB, 256 GiB */
#define BARE_KIB_MAX    268435456.0 /* 2^28 */
#define BARE_BYTES_UNIT 512.0

/* free prints KiB by default; its total says which unit it is: no machine has less than
 * 128 MiB, and few have more than 2 TiB as MiB or 8 TiB as KiB. */
#define HOST_BYTES_MIN 8589934592.0 /* 2^33 */
#define HOST_KIB_MIN   2097152.0    /* 2^21 */
#define HOST_MIB_MIN   2048.0

/* With more series, those that a first look finds flat are not looked at again. */
#define UNSCREENED_MAX 64u

/* Before the first time of a log there may be figures: a tenth of all, or one. */
#define UNTIMED_SHARE 10u
/* Many lines may have one time: so many different ones are enough for an axis. */
#define TIMES_MIN 16u

/* A metric that is documented as a percentage and passes this is not that metric. */
#define PERCENT_MAX 100.5

static double largest(const plim_series_track *track)
{
    double most = 0;
    for (size_t i = 0; i < track->points.count; i++) {
        most = fmax(most, track->points.items[i].value);
    }
    return most;
}

/* The total, in units of the track; 0 if it is not known or not one figure. */
static double constant_total(const plim_series_track *track)
{
    const bool is_one = track->total_low == track->total_high;
    return is_one && track->total_high >= largest(track) ? track->total_high : 0;
}

static bool is_in_kib(const plim_series_track *track, double most)
{
    if (!track->may_be_kib || !track->all_whole || most < BARE_KIB_MIN || most >= BARE_KIB_MAX) {
        return false;
    }
    for (size_t i = 0; i < track->points.count; i++) {
        if (fmod(track->points.items[i].value, BARE_BYTES_UNIT) != 0) {
            return true;
        }
    }
    return false;
}

/* The unit of bare numbers, by what they look like; PLIM_UNIT_NONE if nothing can be said. */
static int8_t unit_of_bare(const plim_series_track *track)
{
    const double most = largest(track);
    const double total = track->is_total ? most : constant_total(track);
    if (track->is_host && total > 0) {
        return total >= HOST_BYTES_MIN ? 0
               : total >= HOST_KIB_MIN ? 10
               : total >= HOST_MIB_MIN ? 20
                                       : 30;
    }
    if (is_in_kib(track, most)) {
        return 10;
    }
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

static bool is_percent(const plim_series_track *track)
{
    return track->may_be_percent && track->unit_log2 < 0 && largest(track) <= PERCENT_MAX;
}

/*
 * True if the printed steps say more than counting: they hardly run back, and most points have
 * one of their own. A counter that starts anew with each epoch runs back by all it has.
 */
static bool steps_are_good(const plim_series_track *track)
{
    const bool is_time = track->step_name == plim_series_second;
    if (track->step_name == NULL || track->mixes_steps ||
        track->unstepped > (is_time ? 1 + track->seen / UNTIMED_SHARE : 0)) {
        return false;
    }
    double back = 0;
    double low = INFINITY;
    double high = -INFINITY;
    double before = NAN;
    size_t changes = 0;
    for (size_t i = 0; i < track->points.count; i++) {
        const double step = track->points.items[i].step;
        if (isnan(step)) {
            continue;
        }
        back += fmax(before - step, 0); /* of NaN and a number, fmax() takes the number */
        changes += step == before ? 0 : 1;
        low = fmin(low, step);
        high = fmax(high, step);
        before = step;
    }
    const size_t enough = (track->points.count + 1) / 2;
    return back <= (high - low) / 2 &&
           changes >= (is_time && enough > TIMES_MIN ? TIMES_MIN : enough);
}

/* A series while it is put into its place. */
typedef struct ranked {
    plim_series series;
    const plim_series_track *track;
} ranked;

/* Growth over the whole run. */
static double growth_of(const plim_trend *trend)
{
    return trend->growth_bytes_per_step * (trend->last_step - trend->first_step);
}

/* The worst trend first; among equals by kind, then the fastest growth. */
static int compare_ranked(const void *left, const void *right)
{
    const ranked *const a = left;
    const ranked *const b = right;
    const plim_trend *const x = &a->series.trend;
    const plim_trend *const y = &b->series.trend;
    if (x->kind != y->kind) {
        return x->kind > y->kind ? -1 : 1; /* classes are listed from harmless to worst */
    }
    if (a->track->kind != b->track->kind) {
        return a->track->kind < b->track->kind ? -1 : 1;
    }
    if (growth_of(x) != growth_of(y)) {
        return growth_of(x) > growth_of(y) ? -1 : 1;
    }
    if (a->series.seen != b->series.seen) {
        return a->series.seen > b->series.seen ? -1 : 1;
    }
    if (a->series.first_line != b->series.first_line) {
        return a->series.first_line < b->series.first_line ? -1 : 1;
    }
    return a->track < b->track ? -1 : 1; /* of one line: as they stand in it */
}

static bool is_constant(const plim_series_track *track)
{
    for (size_t i = 1; i < track->points.count; i++) {
        if (track->points.items[i].value != track->points.items[0].value) {
            return false;
        }
    }
    return true;
}

/* Totals that do not move are capacities, not series; those that move are sums of what is used. */
static bool is_series(const plim_series_track *track)
{
    return track->points.count >= PLIM_SERIES_POINTS_MIN && !track->is_bound &&
           !(track->is_total && is_constant(track)) &&
           (track->unit_log2 >= 0 || is_percent(track) || unit_of_bare(track) != PLIM_UNIT_NONE);
}

/* Free memory does not leak when it rises. */
static void tame_trend(const plim_series_track *track, plim_trend *trend)
{
    if (track->kind == PLIM_SERIES_FREE && trend->kind != PLIM_TREND_TOO_SHORT) {
        trend->kind = PLIM_TREND_FLAT;
        trend->growth_bytes_per_step = 0;
        trend->growth_low_bytes_per_step = 0;
        trend->growth_high_bytes_per_step = 0;
        trend->onset_step = trend->first_step;
        trend->stair_count = 0;
        trend->stair_bytes = 0;
        trend->stair_period_steps = 0;
        trend->has_exhaustion = false;
        trend->exhaustion_step = 0;
    }
}

/* The factor of its points, and the name of the unit. */
typedef struct scale {
    double factor;
    const char *unit;
    bool is_percent;
} scale;

static scale scale_of(const plim_series_track *track, double capacity_bytes)
{
    static const char *const names[] = { "", "KiB", "MiB", "GiB", "TiB" };
    if (is_percent(track)) {
        const bool is_known = capacity_bytes > 0;
        const double percent = track->is_fraction ? 100 : 1;
        return (scale){ .factor = percent * (is_known ? capacity_bytes / 100 : 1),
                        .unit = "%",
                        .is_percent = !is_known };
    }
    const bool is_bare = track->unit_log2 < 0;
    const int8_t log2 = is_bare ? unit_of_bare(track) : track->unit_log2;
    return (scale){ .factor = ldexp(1, log2),
                    .unit = is_bare || log2 == 0 ? names[log2 / 10] : track->unit };
}

/* " [gpu 0]" at the end of a name, or its end. */
static const char *owner_of(const plim_series_track *track)
{
    const char *const owner = strrchr(track->name, '[');
    return owner != NULL && track->name[track->name_length - 1] == ']'
               ? owner
               : track->name + track->name_length;
}

/* The total that other lines give for the same device or machine; 0 unless that is one figure. */
static double total_elsewhere(const plim_series_tracks *tracks, const plim_series_track *track)
{
    double found = 0;
    size_t nearest = 0; /* letters that the names have in common: of several totals, this one's */
    for (uint32_t i = 0; i < tracks->count; i++) {
        const plim_series_track *const other = &tracks->items[i];
        if (!other->is_total || other->is_host != track->is_host || other->points.count == 0 ||
            !is_constant(other) || strcmp(owner_of(other), owner_of(track)) != 0 ||
            (other->unit_log2 < 0 && unit_of_bare(other) == PLIM_UNIT_NONE)) {
            continue;
        }
        const double total = largest(other) * scale_of(other, 0).factor;
        size_t common = 0;
        while (other->name[common] != '\0' && other->name[common] == track->name[common]) {
            common++;
        }
        if (found > 0 && found != total && common == nearest) {
            return 0;
        }
        found = common >= nearest ? total : found;
        nearest = common > nearest ? common : nearest;
    }
    return found >= largest(track) * scale_of(track, 0).factor ? found : 0;
}

/* --capacity holds for the device, or for the host where the text has nothing else. */
static double capacity_of(const plim_series_tracks *tracks, const plim_series_track *track,
                          const plim_series_capacity *capacity, bool has_device)
{
    const double total = constant_total(track);
    if (track->kind == PLIM_SERIES_FREE) {
        return 0;
    }
    if (capacity->given_bytes > 0 && !(track->is_host && has_device)) {
        return capacity->given_bytes;
    }
    const double said = is_percent(track) ? 0
                        : total > 0       ? total * scale_of(track, 0).factor
                                          : total_elsewhere(tracks, track);
    if (said > 0) {
        return said;
    }
    return track->is_host ? 0 : capacity->named_bytes;
}

static plim_status fill(const plim_series_track *track, double first_time, double capacity_bytes,
                        plim_arena *arena, plim_series *ret, plim_error *err)
{
    const scale to = scale_of(track, capacity_bytes);
    size_t count = track->points.count;
    double *const steps = plim_arena_alloc(arena, count * sizeof *steps);
    double *const bytes = plim_arena_alloc(arena, count * sizeof *bytes);
    const char *const name = plim_arena_copy(arena, track->name, track->name_length);
    const char *const unit = plim_arena_copy(arena, to.unit, strlen(to.unit));
    if (steps == NULL || bytes == NULL || name == NULL || unit == NULL) {
        return plim_fail_memory(err, "reading a log");
    }
    const bool has_steps = steps_are_good(track);
    const double zero = track->step_name == plim_series_second ? first_time : 0;
    count = 0;
    for (size_t i = 0; i < track->points.count; i++) {
        const plim_series_point point = track->points.items[i];
        if (!has_steps || !isnan(point.step)) {
            steps[count] = has_steps ? point.step - zero : (double)(i * track->stride);
            bytes[count++] = point.value * to.factor;
        }
    }
    *ret = (plim_series){ .name = name,
                          .step_name = has_steps ? track->step_name : NULL,
                          .unit = unit,
                          .steps = steps,
                          .bytes = bytes,
                          .count = count,
                          .seen = track->seen,
                          .first_line = track->first_line,
                          .last_line = track->last_line,
                          .capacity_bytes = to.is_percent ? 100 : capacity_bytes,
                          .is_percent = to.is_percent,
                          .is_host = track->is_host };
    return PLIM_OK;
}

static plim_status find_trend(const plim_series_track *track, bool is_one_of_many,
                              const plim_mem *mem, plim_series *series, plim_error *err)
{
    plim_trend *const trend = &series->trend;
    const plim_trend_input input = { series->steps, series->bytes, series->count,
                                     series->capacity_bytes };
    trend->kind = PLIM_TREND_LEAK;
    if (is_one_of_many) {
        PLIM_TRY(plim_trend_screen(&input, mem, trend, err));
    }
    if (trend->kind != PLIM_TREND_FLAT && trend->kind != PLIM_TREND_TOO_SHORT) {
        PLIM_TRY(plim_trend_of(&input, mem, trend, err));
    }
    tame_trend(track, trend);
    return PLIM_OK;
}

static bool has_device_series(const plim_series_tracks *tracks)
{
    bool has_device = false;
    for (uint32_t i = 0; i < tracks->count; i++) {
        const plim_series_track *const track = &tracks->items[i];
        has_device = has_device || (!track->is_host && is_series(track));
    }
    return has_device;
}

plim_status plim_series_results(const plim_series_tracks *tracks,
                                const plim_series_capacity *capacity, plim_arena *arena,
                                const plim_series **ret, size_t *ret_count, plim_error *err)
{
    ranked *const all = plim_arena_alloc(arena, tracks->count * sizeof *all);
    plim_series *const series = plim_arena_alloc(arena, tracks->count * sizeof *series);
    if (all == NULL || series == NULL) {
        return plim_fail_memory(err, "reading a log");
    }
    const bool has_device = has_device_series(tracks);
    size_t count = 0;
    for (uint32_t i = 0; i < tracks->count; i++) {
        const plim_series_track *const track = &tracks->items[i];
        if (is_series(track)) {
            PLIM_TRY(fill(track, tracks->first_time,
                          capacity_of(tracks, track, capacity, has_device), arena,
                          &all[count].series, err));
            all[count++].track = track;
        }
    }
    for (size_t i = 0; i < count; i++) {
        PLIM_TRY(
            find_trend(all[i].track, count > UNSCREENED_MAX, tracks->mem, &all[i].series, err));
    }
    if (count > 0) {
        qsort(all, count, sizeof *all, compare_ranked);
    }
    for (size_t i = 0; i < count; i++) {
        series[i] = all[i].series;
    }
    *ret = series;
    *ret_count = count;
    return PLIM_OK;
}
