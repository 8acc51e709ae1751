/*
 * tracks.h - the series of a log while it is read: names, and points that are thinned.
 */
#ifndef PLIMSOLL_SERIES_TRACKS_H
#define PLIMSOLL_SERIES_TRACKS_H

#include "base/map.h"
#include "base/vec.h"
#include "series/reader.h"
#include "series/stamp.h"
#include "series/words.h"

#define PLIM_SERIES_NAME_MAX 128u
#define PLIM_SERIES_NO_TRACK UINT32_MAX

typedef struct plim_series_point {
    double step;  /* as printed, or the time in seconds; NaN if the line had neither */
    double value; /* in units of the track */
} plim_series_point;

/* One name. */
typedef struct plim_series_track {
    uint64_t name_hash;
    uint32_t name_length;
    char name[PLIM_SERIES_NAME_MAX + 1];
    char unit[12];         /* as printed first */
    const char *step_name; /* of the first point that has a step; NULL: none has */
    uint64_t unstepped;    /* points without one */
    bool mixes_steps;      /* some are times */
    plim_series_kind kind;
    int8_t unit_log2;    /* PLIM_UNIT_NONE: bare numbers, decided about when all are seen */
    bool is_total;       /* of what there is, as long as it does not move; */
    bool is_bound;       /* or wherever it moves: a limit */
    bool is_host;        /* memory of the machine, not of a device */
    bool may_be_percent; /* a metric that is known to be one; bare numbers only, */
    bool is_fraction;    /* of which 1 is all */
    bool may_be_kib;     /* bare numbers of the host or without words: ps prints KiB */
    bool all_whole;      /* no point had a fraction */
    double total_low;    /* of the totals that stood beside its points, in units of the track; */
    double total_high;   /* the second is smaller where there were none */
    PLIM_VEC(plim_series_point) points;
    uint64_t seen;
    uint64_t stride; /* every how many points one is kept: a power of two */
    uint64_t first_line;
    uint64_t last_line;
    uint64_t last_row; /* in which it was looked up */
} plim_series_track;

typedef struct plim_series_tracks {
    const plim_mem *mem;
    plim_series_track *items; /* PLIM_SERIES_MAX of them, or NULL */
    plim_map by_name;         /* index by hash */
    uint32_t count;
    uint32_t hand;       /* where to look for a name to give up */
    uint32_t generation; /* counts names that had to go: indices from before mean nothing */
    uint64_t hash_key;
    double first_time; /* of the log, in seconds; the axis of times begins there */
} plim_series_tracks;

/* The facts of a name when it appears. */
typedef struct plim_series_heading {
    char name[PLIM_SERIES_NAME_MAX + 1];
    uint32_t name_length;
    int8_t unit_log2;
    uint32_t words;   /* around it, PLIM_WORD_ of each */
    const char *unit; /* text of unit_length bytes */
    uint32_t unit_length;
} plim_series_heading;

/* The place of a point. */
typedef struct plim_series_place {
    uint64_t line; /* from 1; line feeds are counted */
    double step;
    const char *step_name; /* plim_series_second: a time; NULL: none */
} plim_series_place;

void plim_series_tracks_init(plim_series_tracks *tracks, const plim_mem *mem);
void plim_series_tracks_deinit(plim_series_tracks *tracks);

/**
 * The track of a name, made if need be.
 *
 * row     of those that were parsed: a counter
 * ret     PLIM_SERIES_NO_TRACK when PLIM_SERIES_MAX names are followed, all of them in earnest
 * errors  PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_series_tracks_find(plim_series_tracks *tracks,
                                                  const plim_series_heading *heading, uint64_t row,
                                                  uint32_t *ret, plim_error *err);

/** True if the next point will be kept: else its value need not be read. */
static inline bool plim_series_track_wants(const plim_series_track *track)
{
    return (track->seen & (track->stride - 1)) == 0;
}

/** One more point; the value only matters if it is wanted. False: no memory. */
bool plim_series_track_add(plim_series_tracks *tracks, plim_series_track *track,
                           const plim_series_place *place, double value);

/**
 * A point given as text, which is left out if it is no number.
 *
 * log2     of the unit beside the number; PLIM_UNIT_NONE: the track's own
 * returns  false: no memory
 */
bool plim_series_track_read(plim_series_tracks *tracks, plim_series_track *track,
                            const plim_series_place *place, const char *line,
                            plim_series_span number, int8_t log2);

/** Add a total, given as text. */
void plim_series_track_read_total(plim_series_track *track, const char *line,
                                  plim_series_span number, int8_t log2);

#endif
