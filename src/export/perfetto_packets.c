/*
 * perfetto_packets.c - see perfetto_packets.h.
 */
#include "export/perfetto_packets.h"

#include "base/assert.h"
#include "base/error.h"

/* Values of Perfetto's enumerations, from the files that proto/perfetto.proto names, and from
 * protos/perfetto/common/builtin_clock.proto. */
#define STATE_CLEARED  1u /* TracePacket.SequenceFlags */
#define STATE_NEEDED   2u
#define UNIT_BYTES     3u /* CounterDescriptor.Unit */
#define ORDER_EXPLICIT 3u /* TrackDescriptor.ChildTracksOrdering */
#define CLOCK_REALTIME 1u
#define CLOCK_BOOTTIME 6u /* that of timestamps, where nothing else is said */

/* Tracks have numbers of their own in a trace. Those of a device are so far apart, and small ones
 * cost a byte; lanes begin far above them. */
#define TRACKS_PER_DEVICE 32u
#define TRACK_PROCESS     1u
#define TRACK_MARKS       2u
#define TRACK_COUNTERS    3u /* and the next */
#define LANES_BASE        (UINT64_C(1) << 40)
#define LANES_PER_TRACK   (UINT64_C(1) << 32)

#define TEXT_BYTES_MAX ((size_t)1 << 30)

_Static_assert(TRACK_COUNTERS + PLIM_COURSE_COUNTER_COUNT <= TRACKS_PER_DEVICE, "tracks overlap");

typedef Plim__Perfetto__TracePacket trace_packet;

/* --- packets --- */

static void put(plim_perfetto *out, trace_packet *packet, uint32_t flags)
{
    packet->has_sequence = true;
    packet->sequence = out->sequence;
    if (!out->is_begun) {
        out->is_begun = true;
        flags |= STATE_CLEARED;
    }
    packet->has_sequence_flags = flags != 0;
    packet->sequence_flags = flags;
    Plim__Perfetto__Trace trace = PLIM__PERFETTO__TRACE__INIT;
    trace.n_packet = 1;
    trace.packet = &packet;
    plim_messages_put(&out->messages, &trace.base);
}

Plim__Perfetto__TrackEvent plim_perfetto_event(plim_perfetto_type type, uint64_t track)
{
    Plim__Perfetto__TrackEvent event = PLIM__PERFETTO__TRACK_EVENT__INIT;
    event.has_type = true;
    event.type = type;
    event.has_track_uuid = true;
    event.track_uuid = track;
    return event;
}

static void put_at(plim_perfetto *out, int64_t time_us, Plim__Perfetto__TrackEvent *event,
                   uint32_t flags)
{
    trace_packet packet = PLIM__PERFETTO__TRACE_PACKET__INIT;
    packet.has_timestamp = true;
    packet.timestamp = (uint64_t)time_us * 1000;
    packet.track_event = event;
    put(out, &packet, flags);
}

void plim_perfetto_put(plim_perfetto *out, int64_t time_us, Plim__Perfetto__TrackEvent *event)
{
    plim_messages_check(&out->messages, &out->text);
    event->n_annotations = out->fact_count;
    event->annotations = out->fact_list;
    put_at(out, time_us, event, STATE_NEEDED);
    out->fact_count = 0;
}

/* Refers to nothing before it. */
void plim_perfetto_put_counter(plim_perfetto *out, int64_t time_us, size_t counter, uint64_t bytes)
{
    const uint64_t first = (uint64_t)(out->sequence - 1) * TRACKS_PER_DEVICE + TRACK_COUNTERS;
    Plim__Perfetto__TrackEvent event = plim_perfetto_event(PLIM_PERFETTO_COUNTER, first + counter);
    event.has_counter_value = true;
    event.counter_value = plim_message_size(bytes);
    put_at(out, time_us, &event, 0);
}

/* The clock of timestamps and that of the wall are one, which lets readers show the time of day. */
static void put_clocks(plim_perfetto *out, int64_t time_us)
{
    static const uint32_t ids[] = { CLOCK_BOOTTIME, CLOCK_REALTIME };
    Plim__Perfetto__ClockSnapshot__Clock clocks[2];
    Plim__Perfetto__ClockSnapshot__Clock *list[2];
    for (size_t i = 0; i < 2; i++) {
        plim__perfetto__clock_snapshot__clock__init(&clocks[i]);
        clocks[i].has_id = true;
        clocks[i].id = ids[i];
        clocks[i].has_timestamp = true;
        clocks[i].timestamp = (uint64_t)time_us * 1000;
        list[i] = &clocks[i];
    }
    Plim__Perfetto__ClockSnapshot snapshot = PLIM__PERFETTO__CLOCK_SNAPSHOT__INIT;
    snapshot.n_clocks = 2;
    snapshot.clocks = list;
    trace_packet packet = PLIM__PERFETTO__TRACE_PACKET__INIT;
    packet.has_timestamp = true;
    packet.timestamp = (uint64_t)time_us * 1000;
    packet.clock_snapshot = &snapshot;
    put(out, &packet, 0);
}

/* --- tracks --- */

static uint64_t track_of(const plim_perfetto *out, uint64_t track)
{
    return (uint64_t)(out->sequence - 1) * TRACKS_PER_DEVICE + track;
}

static void put_track(plim_perfetto *out, Plim__Perfetto__TrackDescriptor *track, uint64_t uuid)
{
    track->has_uuid = true;
    track->uuid = uuid;
    trace_packet packet = PLIM__PERFETTO__TRACE_PACKET__INIT;
    packet.track_descriptor = track;
    put(out, &packet, 0);
}

static Plim__Perfetto__TrackDescriptor child_track(const plim_perfetto *out, const char *name,
                                                   size_t rank)
{
    Plim__Perfetto__TrackDescriptor track = PLIM__PERFETTO__TRACK_DESCRIPTOR__INIT;
    track.has_name = true;
    track.name = plim_message_string(name);
    track.has_parent_uuid = true;
    track.parent_uuid = track_of(out, TRACK_PROCESS);
    track.has_sibling_order_rank = true;
    track.sibling_order_rank = (int32_t)rank;
    return track;
}

static void put_process(plim_perfetto *out)
{
    const plim_export_device_text name = plim_export_device_name(out->view->device->device);
    plim_text_reset(&out->text);
    plim_text_append_string(&out->text, name.text);
    if (!out->has_times) {
        plim_text_append_string(&out->text, PLIM_COURSE_NO_TIMES);
    }
    plim_messages_check(&out->messages, &out->text);
    Plim__Perfetto__ProcessDescriptor process = PLIM__PERFETTO__PROCESS_DESCRIPTOR__INIT;
    process.has_pid = true;
    process.pid = (int32_t)out->sequence;
    process.has_name = true;
    process.name = plim_message_string(plim_text_string(&out->text));
    Plim__Perfetto__TrackDescriptor track = PLIM__PERFETTO__TRACK_DESCRIPTOR__INIT;
    track.process = &process;
    track.has_child_ordering = true;
    track.child_ordering = ORDER_EXPLICIT;
    put_track(out, &track, track_of(out, TRACK_PROCESS));
}

void plim_perfetto_put_tracks(plim_perfetto *out)
{
    if (out->has_times) {
        put_clocks(out, plim_course_origin_us(out->view->device));
    }
    put_process(out);
    Plim__Perfetto__TrackDescriptor marks = child_track(out, "peak and failures", 0);
    put_track(out, &marks, plim_perfetto_marks(out));
    Plim__Perfetto__CounterDescriptor counter = PLIM__PERFETTO__COUNTER_DESCRIPTOR__INIT;
    counter.has_unit = true;
    counter.unit = UNIT_BYTES;
    for (size_t i = 0; i < PLIM_COURSE_COUNTER_COUNT; i++) {
        Plim__Perfetto__TrackDescriptor track =
            child_track(out, plim_course_counter_name(i), 1 + PLIM_COURSE_TRACK_COUNT + i);
        track.has_description = true;
        track.description = plim_message_string(plim_course_counter_text(i));
        track.counter = &counter;
        put_track(out, &track, track_of(out, TRACK_COUNTERS + i));
    }
}

uint64_t plim_perfetto_marks(const plim_perfetto *out)
{
    return track_of(out, TRACK_MARKS);
}

/* Lanes of a track bear one name, and readers draw them as one. */
uint64_t plim_perfetto_lane(plim_perfetto *out, plim_course_track track, size_t lane)
{
    const uint64_t base = ((uint64_t)(out->sequence - 1) * PLIM_COURSE_TRACK_COUNT + track);
    const uint64_t first = LANES_BASE + base * LANES_PER_TRACK;
    for (; out->lanes[track] <= lane; out->lanes[track]++) {
        Plim__Perfetto__TrackDescriptor descriptor =
            child_track(out, plim_course_track_name(track), 1 + (size_t)track);
        put_track(out, &descriptor, first + out->lanes[track]);
    }
    return first + lane;
}

/* --- facts --- */

static Plim__Perfetto__DebugAnnotation *add_fact(plim_perfetto *out, const char *name)
{
    PLIM_ASSERT(out->fact_count < PLIM_PERFETTO_FACTS_MAX);
    Plim__Perfetto__DebugAnnotation *const fact = &out->facts[out->fact_count];
    plim__perfetto__debug_annotation__init(fact);
    fact->has_name = true;
    fact->name = plim_message_string(name);
    out->fact_list[out->fact_count++] = fact;
    return fact;
}

void plim_perfetto_add_number(plim_perfetto *out, const char *name, uint64_t number)
{
    Plim__Perfetto__DebugAnnotation *const fact = add_fact(out, name);
    fact->has_uint_value = true;
    fact->uint_value = number;
}

void plim_perfetto_add_string(plim_perfetto *out, const char *name, const char *string)
{
    Plim__Perfetto__DebugAnnotation *const fact = add_fact(out, name);
    fact->has_string_value = true;
    fact->string_value = plim_message_string(string);
}

/* --- texts that repeat --- */

/* Sends out->text under a number, as a name or as a value. */
static void put_text(plim_perfetto *out, uint64_t number, bool is_name)
{
    Plim__Perfetto__InternedText text = PLIM__PERFETTO__INTERNED_TEXT__INIT;
    Plim__Perfetto__InternedText *list = &text;
    plim_messages_check(&out->messages, &out->text);
    text.has_iid = true;
    text.iid = number;
    text.has_text = true;
    text.text = plim_message_bytes(plim_text_string(&out->text), out->text.length);
    Plim__Perfetto__InternedData texts = PLIM__PERFETTO__INTERNED_DATA__INIT;
    *(is_name ? &texts.n_event_names : &texts.n_string_values) = 1;
    *(is_name ? &texts.event_names : &texts.string_values) = &list;
    trace_packet packet = PLIM__PERFETTO__TRACE_PACKET__INIT;
    packet.interned_data = &texts;
    put(out, &packet, STATE_NEEDED);
}

void plim_perfetto_name(Plim__Perfetto__TrackEvent *event, const char *name)
{
    event->has_name = true;
    event->name = plim_message_string(name);
}

void plim_perfetto_name_frame(plim_perfetto *out, Plim__Perfetto__TrackEvent *event, uint32_t frame)
{
    uint8_t *const sent = &out->sent[plim_history_stack_count(out->job->history)];
    if (sent[frame] == 0) {
        sent[frame] = 1;
        plim_text_reset(&out->text);
        plim_frame_name_add(&out->namer, &out->text, frame);
        put_text(out, (uint64_t)frame + 1, true);
    }
    event->has_name_iid = true;
    event->name_iid = (uint64_t)frame + 1;
}

void plim_perfetto_add_stack(plim_perfetto *out, const char *name, uint32_t stack)
{
    if (stack == PLIM_NONE) {
        return;
    }
    if (out->sent[stack] == 0) {
        out->sent[stack] = 1;
        const plim_stack frames = plim_history_stack(out->job->history, stack);
        plim_text_reset(&out->text);
        for (uint32_t i = 0; i < frames.frame_count; i++) {
            plim_text_append_string(&out->text, i == 0 ? "" : "\n");
            plim_frame_name_add(&out->namer, &out->text, frames.frames[i]);
        }
        put_text(out, (uint64_t)stack + 1, false);
    }
    Plim__Perfetto__DebugAnnotation *const fact = add_fact(out, name);
    fact->has_string_value_iid = true;
    fact->string_value_iid = (uint64_t)stack + 1;
}

/* --- devices --- */

static size_t text_count(const plim_history *history)
{
    return (size_t)plim_history_stack_count(history) + plim_history_frame_count(history);
}

plim_status plim_perfetto_begin_device(plim_perfetto *out, size_t place, plim_error *err)
{
    const plim_export_job *const job = out->job;
    out->view = &job->views[place];
    out->sequence = (uint32_t)place + 1;
    out->is_begun = false;
    out->has_times = plim_course_has_times(out->view->device);
    for (size_t i = 0; i < PLIM_COURSE_TRACK_COUNT; i++) {
        out->lanes[i] = 0;
    }
    plim_text_init(&out->text, job->mem, TEXT_BYTES_MAX);
    plim_frame_namer_init(&out->namer, job->history, '\n', job->mem);
    out->sent = plim_mem_alloc_zeroed(job->mem, text_count(job->history) + 1, 1);
    return out->sent != NULL ? PLIM_OK : plim_fail_memory(err, "numbering texts of a trace");
}

void plim_perfetto_end_device(plim_perfetto *out)
{
    plim_mem_free(out->job->mem, out->sent, text_count(out->job->history) + 1, 1);
    plim_frame_namer_deinit(&out->namer);
    plim_text_deinit(&out->text);
    out->sent = NULL;
}
