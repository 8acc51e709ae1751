/*
 * course.h - a device's memory over time, as formats of timelines draw it: counters, spans and
 * marks, each with a time that never steps back.
 *
 * Events keep their order: one whose clock steps back, or is not known, takes the time of the one
 * before it. A recording without any times is laid out by its events, a microsecond each.
 */
#ifndef PLIMSOLL_EXPORT_COURSE_H
#define PLIMSOLL_EXPORT_COURSE_H

#include "export/lanes.h"
#include "inspect/device_view.h"

/* Counters after these are the live bytes of each plim_category. In the list: enumerator, name,
 * meaning. */
#define PLIM_COURSE_COUNTER_LIST(X)                                             \
    X(PLIM_COURSE_REQUESTED, "requested", "what live allocations requested")    \
    X(PLIM_COURSE_ALLOCATED, "allocated", "the blocks of live allocations")     \
    X(PLIM_COURSE_ACTIVE, "active", "and blocks whose free waits for a stream") \
    X(PLIM_COURSE_RESERVED, "reserved", "all segments that the allocator holds")

typedef enum plim_course_counter {
#define PLIM_COURSE_COUNTER_ENUM(code, name, text) code,
    PLIM_COURSE_COUNTER_LIST(PLIM_COURSE_COUNTER_ENUM)
#undef PLIM_COURSE_COUNTER_ENUM
        PLIM_COURSE_CATEGORIES,
    PLIM_COURSE_COUNTER_COUNT = PLIM_COURSE_CATEGORIES + PLIM_CATEGORY_COUNT
} plim_course_counter;

/* "requested", …, "live: parameters", …; the meaning. Constant strings. */
const char *plim_course_counter_name(size_t counter);
const char *plim_course_counter_text(size_t counter);

/* In the list: enumerator, name. */
#define PLIM_COURSE_TRACK_LIST(X)             \
    X(PLIM_COURSE_STEPS, "steps")             \
    X(PLIM_COURSE_ANNOTATIONS, "annotations") \
    X(PLIM_COURSE_SEGMENTS, "segments")       \
    X(PLIM_COURSE_ALLOCATIONS, "allocations")

typedef enum plim_course_track {
#define PLIM_COURSE_TRACK_ENUM(code, name) code,
    PLIM_COURSE_TRACK_LIST(PLIM_COURSE_TRACK_ENUM)
#undef PLIM_COURSE_TRACK_ENUM
        PLIM_COURSE_TRACK_COUNT
} plim_course_track;

const char *plim_course_track_name(plim_course_track track);

/* Spans of one track and lane come in order and do not overlap. */
typedef struct plim_course_span {
    plim_course_track track;
    size_t lane;
    int64_t begin_us;
    int64_t end_us;
    bool is_begun;   /* false: it began before the recording */
    bool is_ended;   /* false: the recording ends inside */
    uint64_t number; /* a step's, from 0; of the others, one of their own on their track */
    uint64_t bytes;  /* a step's highest requested bytes; a segment's or an allocation's own */
    plim_addr addr;  /* of a segment */
    uint32_t name;   /* an annotation's string */
    uint32_t frame;  /* of an allocation's stack, the one that speaks for it; or PLIM_NONE */
    const plim_allocation *allocation;
} plim_course_span;

/* A failure, or the peak. */
typedef struct plim_course_mark {
    int64_t time_us;
    int64_t event; /* or PLIM_AT_START */
    bool is_oom;
    uint64_t request_bytes; /* of what failed */
    bool has_device_free;
    uint64_t device_free_bytes;
    uint32_t stack; /* of the request, or PLIM_NONE */
    uint32_t frame; /* the one that speaks for it, or PLIM_NONE */
    plim_figures figures;
} plim_course_mark;

/* Takes a course. Counters come in order of time, a value only where it differs from the one
 * before. */
typedef struct plim_course_sink {
    void (*counter)(void *ctx, int64_t time_us, size_t counter, uint64_t bytes);
    void (*span)(void *ctx, const plim_course_span *span);
    void (*mark)(void *ctx, const plim_course_mark *mark);
    void *ctx;
} plim_course_sink;

/* The state of a course between two events. */
typedef struct plim_course {
    plim_device_view *view;
    const plim_course_sink *sink;
    uint64_t lives_min_bytes;
    bool has_times;
    int64_t origin_us;
    int64_t now_us;
    plim_figures figures;
    plim_total by_category[PLIM_CATEGORY_COUNT];
    uint64_t shown[PLIM_COURSE_COUNTER_COUNT]; /* the last value of each counter */
    bool is_shown;
    int64_t peak;
    size_t step; /* the open one, or the next */
    bool is_in_step;
    int64_t step_begin_us;
    uint64_t step_peak_bytes;
    uint32_t *labels; /* by stack: the frame that speaks for it + 1, or 0 until it is asked */
    plim_lanes lives;
    plim_lanes segments;
} plim_course;

/* True if the device's course is laid out by time; false: by its events. */
bool plim_course_has_times(const plim_device_history *device);
/* Ends the name of a device whose course has no times. */
#define PLIM_COURSE_NO_TIMES " (no times: each event takes 1 µs)"
/* The time at which the course begins. */
int64_t plim_course_origin_us(const plim_device_history *device);

/* Runs the course of a device, with spans of allocations that requested at least so many bytes; 0:
 * of none. Linear in events. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_course_run(plim_device_view *view, uint64_t lives_min_bytes,
                            const plim_course_sink *sink, plim_error *err);

#endif
