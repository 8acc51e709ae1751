/*
 * stamp.h - times that stand in a log, as seconds.
 *
 *   2026-01-02T03:04:05.678Z    2026/01/02 03:04:05.678    20260102   03:04:05    I0102
 * 03:04:05.678 Fri Jan  2 03:04:05 2026    Fri 02 Jan 2026 03:04:05 PM    01-02 03:04:05 03:04:05
 *
 * A stamp says which numbers of a line are its parts, so that lines of one shape share it.
 */
#ifndef PLIMSOLL_SERIES_STAMP_H
#define PLIMSOLL_SERIES_STAMP_H

#include "series/number.h"

/* The name of the axis of a series that has times but no steps. */
extern const char plim_series_second[];

typedef enum plim_stamp_kind {
    PLIM_STAMP_NONE,
    PLIM_STAMP_CLOCK, /* a time of some day */
    PLIM_STAMP_DAY,   /* of a day of some year */
    PLIM_STAMP_DATE,
    PLIM_STAMP_EPOCH, /* seconds since 1970, or thousandths or less of them */
} plim_stamp_kind;

/* Numbers are counted along the line. */
typedef struct plim_series_stamp {
    plim_stamp_kind kind;
    uint16_t clock; /* the hour, which minutes and seconds follow; or the seconds of the epoch */
    uint16_t day;   /* is_packed: 20260102 or 0102 */
    uint16_t month; /* month_name 0: this number is the month, */
    uint8_t month_name; /* else it is this one, from 1 */
    uint16_t year;
    bool is_packed;
    bool is_pm;
    bool is_am;
} plim_series_stamp;

/* The time of the log: what was read last. */
typedef struct plim_series_clock {
    double now;   /* seconds since 1970, or since some day; NaN: no time was read */
    double first; /* of the log */
    int64_t year;
} plim_series_clock;

#define PLIM_SERIES_CLOCK_NONE                 \
    {                                          \
        .now = NAN, .first = NAN, .year = 2000 \
    }

/** The first time in a line that is not a duration; else of kind PLIM_STAMP_NONE. */
plim_series_stamp plim_series_stamp_of(const char *line, size_t length,
                                       const plim_series_span *numbers, size_t number_count);

/** True if a number may be a time of the epoch by its size, in seconds or in thousandths. */
bool plim_series_is_epoch(const char *line, plim_series_span number, bool in_seconds);

/** Set the clock by a line. A clock without a day goes on at midnight, one without a year at New
 * Year. */
void plim_series_clock_read(plim_series_clock *clock, const plim_series_stamp *stamp,
                            const char *line, const plim_series_span *numbers);

/** Set the clock by a line of few words that has a time. */
void plim_series_clock_look(plim_series_clock *clock, const char *line, size_t length);

#endif
