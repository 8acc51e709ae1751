/*
 * perfetto_packets.h - packets of a Perfetto trace: for perfetto.c.
 *
 * Packets of a device are one sequence. Its first says that nothing before it is needed; texts that
 * repeat, the names of allocations and their stacks, are sent once and numbered. Within a sequence
 * packets of one time keep their order, so that a counter ends at its last value.
 */
#ifndef PLIMSOLL_EXPORT_PERFETTO_PACKETS_H
#define PLIMSOLL_EXPORT_PERFETTO_PACKETS_H

#include "export/course.h"
#include "export/export.h"
#include "export/messages.h"
#include "export/names.h"

#include <perfetto.pb-c.h>

#define PLIM_PERFETTO_FACTS_MAX 8

/* TrackEvent.Type: google/perfetto, protos/perfetto/trace/track_event/track_event.proto. */
typedef enum plim_perfetto_type {
    PLIM_PERFETTO_BEGIN = 1,
    PLIM_PERFETTO_END = 2,
    PLIM_PERFETTO_INSTANT = 3,
    PLIM_PERFETTO_COUNTER = 4,
} plim_perfetto_type;

typedef struct plim_perfetto {
    plim_messages messages;
    const plim_export_job *job;
    plim_device_view *view;
    uint32_t sequence; /* from 1: the device's place */
    bool is_begun;     /* its first packet is written */
    bool has_times;
    uint8_t *sent; /* 1: the text is numbered already; stacks, and frames after them */
    size_t lanes[PLIM_COURSE_TRACK_COUNT]; /* so many of each track are described */
    plim_frame_namer namer;
    plim_text text;
    /* Facts of the event that is put next. */
    Plim__Perfetto__DebugAnnotation facts[PLIM_PERFETTO_FACTS_MAX];
    Plim__Perfetto__DebugAnnotation *fact_list[PLIM_PERFETTO_FACTS_MAX];
    size_t fact_count;
} plim_perfetto;

/* The device at this place of the job. After a failure plim_perfetto_end_device() is allowed. */
plim_status plim_perfetto_begin_device(plim_perfetto *out, size_t place, plim_error *err);
void plim_perfetto_end_device(plim_perfetto *out);

/* The device, its counters and its marks as tracks. */
void plim_perfetto_put_tracks(plim_perfetto *out);

uint64_t plim_perfetto_marks(const plim_perfetto *out);
/* Described when it is met first. */
uint64_t plim_perfetto_lane(plim_perfetto *out, plim_course_track track, size_t lane);

/* An event with a type and a track; texts of it are borrowed until it is put. */
Plim__Perfetto__TrackEvent plim_perfetto_event(plim_perfetto_type type, uint64_t track);
void plim_perfetto_put(plim_perfetto *out, int64_t time_us, Plim__Perfetto__TrackEvent *event);
void plim_perfetto_put_counter(plim_perfetto *out, int64_t time_us, size_t counter, uint64_t bytes);

/* Facts of the next event; names and strings are constants. */
void plim_perfetto_add_number(plim_perfetto *out, const char *name, uint64_t number);
void plim_perfetto_add_string(plim_perfetto *out, const char *name, const char *string);
/* The frames of a stack, a line each. */
void plim_perfetto_add_stack(plim_perfetto *out, const char *name, uint32_t stack);

/* The name of an event: a frame's, which is sent once; or a constant. */
void plim_perfetto_name_frame(plim_perfetto *out, Plim__Perfetto__TrackEvent *event,
                              uint32_t frame);
void plim_perfetto_name(Plim__Perfetto__TrackEvent *event, const char *name);

#endif
