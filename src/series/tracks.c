/*
 * tracks.c - tracks of points, each of bounded length.
 *
 * A full track loses every second point and from then on keeps every second one that comes: what
 * stays are the points 0, s, 2s, … of all that were seen, whatever the text was cut into.
 */
#include "series/tracks.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

/* Of all tracks together: 64 MiB of points. */
#define ALL_POINTS_MAX ((size_t)1 << 22)

void plim_series_tracks_init(plim_series_tracks *tracks, const plim_mem *mem)
{
    *tracks = (plim_series_tracks){ .mem = mem, .hash_key = plim_hash_key() };
    plim_map_init(&tracks->by_name, mem);
}

void plim_series_tracks_deinit(plim_series_tracks *tracks)
{
    for (uint32_t i = 0; i < tracks->count; i++) {
        PLIM_VEC_FREE(tracks->mem, &tracks->items[i].points);
    }
    plim_mem_free(tracks->mem, tracks->items, PLIM_SERIES_MAX, sizeof *tracks->items);
    plim_map_deinit(&tracks->by_name);
    tracks->items = NULL;
    tracks->count = 0;
}

/*
 * The next name, in turn, of those that said too little to be a series: a log may begin with any
 * number of single figures. The oldest come first, for places are taken in turn too.
 */
static uint32_t choose_victim(plim_series_tracks *tracks, uint64_t row)
{
    for (uint32_t i = 0; i < tracks->count; i++) {
        const uint32_t index = tracks->hand;
        const plim_series_track *const track = &tracks->items[index];
        tracks->hand = (index + 1) % tracks->count;
        if (track->seen < PLIM_SERIES_POINTS_MIN && track->last_row < row) {
            return index;
        }
    }
    return PLIM_SERIES_NO_TRACK;
}

static void begin_track(plim_series_track *track, const plim_series_heading *heading, uint64_t hash,
                        uint64_t row)
{
    *track = (plim_series_track){
        .name_hash = hash,
        .name_length = heading->name_length,
        .kind = plim_series_kind_of(heading->words),
        .unit_log2 = heading->unit_log2,
        .is_host = plim_series_is_host(heading->words),
        .is_total = plim_series_is_total(heading->words),
        .is_bound = plim_series_is_total(heading->words) && (heading->words & PLIM_WORD_BOUND) != 0,
        .may_be_percent = (heading->words & PLIM_WORD_PERCENT) != 0,
        .is_fraction = (heading->words & PLIM_WORD_FRACTION) != 0,
        .may_be_kib = plim_series_is_host(heading->words) || (heading->words & PLIM_WORD_BARE) != 0,
        .all_whole = true,
        .total_low = INFINITY,
        .total_high = -INFINITY,
        .stride = 1,
        .last_row = row,
    };
    static const char usual[][4] = { "", "KiB", "MiB", "GiB", "TiB" };
    memcpy(track->name, heading->name, heading->name_length);
    const size_t unit_length =
        heading->unit_length < sizeof track->unit ? heading->unit_length : sizeof track->unit - 1;
    if (heading->unit_log2 >= 0 && unit_length > 0) {
        memcpy(track->unit, heading->unit, unit_length);
    } else if (heading->unit_log2 >= 0) {
        memcpy(track->unit, usual[heading->unit_log2 / 10], sizeof usual[0]);
    }
}

plim_status plim_series_tracks_find(plim_series_tracks *tracks, const plim_series_heading *heading,
                                    uint64_t row, uint32_t *ret, plim_error *err)
{
    PLIM_ASSERT(heading->name_length <= PLIM_SERIES_NAME_MAX);
    const uint64_t hash = plim_hash_bytes(heading->name, heading->name_length, tracks->hash_key);
    const uint64_t known = plim_map_get(&tracks->by_name, hash);
    if (known != PLIM_MAP_ABSENT) {
        plim_series_track *const track = &tracks->items[known];
        const bool is_it = track->name_length == heading->name_length &&
                           memcmp(track->name, heading->name, heading->name_length) == 0;
        track->last_row = is_it ? row : track->last_row; /* it is going to be used in this row */
        *ret = is_it ? (uint32_t)known : PLIM_SERIES_NO_TRACK; /* two of one hash: the first */
        return PLIM_OK;
    }
    if (tracks->items == NULL) {
        tracks->items = plim_mem_alloc_zeroed(tracks->mem, PLIM_SERIES_MAX, sizeof *tracks->items);
        if (tracks->items == NULL) {
            return plim_fail_memory(err, "reading a log");
        }
    }
    uint32_t index = tracks->count;
    if (index == PLIM_SERIES_MAX) {
        index = choose_victim(tracks, row);
        if (index == PLIM_SERIES_NO_TRACK) {
            *ret = index;
            return PLIM_OK;
        }
    }
    if (!plim_map_put(&tracks->by_name, hash, index)) {
        return plim_fail_memory(err, "reading a log");
    }
    if (index < tracks->count) {
        (void)plim_map_take(&tracks->by_name, tracks->items[index].name_hash);
        PLIM_VEC_FREE(tracks->mem, &tracks->items[index].points);
        tracks->generation++;
    } else {
        tracks->count++;
    }
    begin_track(&tracks->items[index], heading, hash, row);
    *ret = index;
    return PLIM_OK;
}

/*
 * The number of points a track may keep: all tracks together are bounded, so that a log of a
 * thousand ranks takes no more than one of a few.
 */
static size_t points_max(const plim_series_tracks *tracks)
{
    size_t most = PLIM_SERIES_POINTS_MAX;
    while (most * tracks->count > ALL_POINTS_MAX) {
        most /= 2;
    }
    return most;
}

static void thin(plim_series_track *track)
{
    const size_t half = (track->points.count + 1) / 2;
    for (size_t i = 0; i < half; i++) {
        track->points.items[i] = track->points.items[2 * i];
    }
    track->points.count = half;
    track->stride *= 2;
}

bool plim_series_track_add(plim_series_tracks *tracks, plim_series_track *track,
                           const plim_series_place *place, double value)
{
    const size_t most = points_max(tracks);
    while (plim_series_track_wants(track) && track->points.count >= most) {
        thin(track);
    }
    if (plim_series_track_wants(track)) {
        const plim_series_point point = { .step = place->step, .value = value };
        if (!PLIM_VEC_PUSH(tracks->mem, &track->points, point)) {
            return false;
        }
    }
    if (track->seen++ == 0) {
        track->first_line = place->line;
    }
    if (place->step_name == NULL) {
        track->unstepped++;
    } else if (track->step_name == NULL) {
        track->step_name = place->step_name;
    } else if ((track->step_name == plim_series_second) !=
               (place->step_name == plim_series_second)) {
        track->mixes_steps = true;
    }
    track->last_line = place->line;
    return true;
}

bool plim_series_track_read(plim_series_tracks *tracks, plim_series_track *track,
                            const plim_series_place *place, const char *line,
                            plim_series_span number, int8_t log2)
{
    /* A bare number and one with a unit do not belong to one series. */
    if (log2 >= 0 && track->unit_log2 < 0) {
        return true;
    }
    double value = 0;
    if (plim_series_track_wants(track)) {
        if (!plim_series_number_read(line, number, &value)) {
            return true;
        }
        if (track->all_whole && !plim_series_number_is_whole(line, number)) {
            track->all_whole = false;
        }
        if (log2 >= 0 && log2 != track->unit_log2) {
            value = ldexp(value, log2 - track->unit_log2);
        }
    }
    return plim_series_track_add(tracks, track, place, value);
}

void plim_series_track_read_total(plim_series_track *track, const char *line,
                                  plim_series_span number, int8_t log2)
{
    double value = 0;
    if ((log2 >= 0) != (track->unit_log2 >= 0) || !plim_series_number_read(line, number, &value)) {
        return;
    }
    value = log2 >= 0 ? ldexp(value, log2 - track->unit_log2) : value;
    track->total_low = fmin(track->total_low, value);
    track->total_high = fmax(track->total_high, value);
}
