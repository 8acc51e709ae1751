/*
 * perfetto.c - a history as a trace of Perfetto's: a process for each device, with counters, spans
 * and marks, by the course of the device.
 */
#include "export/perfetto_packets.h"

#include <inttypes.h>
#include <string.h>

static void put_counter(void *ctx, int64_t time_us, size_t counter, uint64_t bytes)
{
    plim_perfetto_put_counter(ctx, time_us, counter, bytes);
}

/* --- spans --- */

static void add_bounds(plim_perfetto *out, const plim_course_span *span)
{
    if (!span->is_begun) {
        plim_perfetto_add_string(out, "begins", "before the recording");
    }
    if (!span->is_ended) {
        plim_perfetto_add_string(out, "ends", "after the recording");
    }
}

/* An allocation bears the name of the line that speaks for it, and has its stack. */
static void describe_life(plim_perfetto *out, const plim_course_span *span,
                          Plim__Perfetto__TrackEvent *event)
{
    const plim_allocation *const one = span->allocation;
    const char *const category =
        plim_category_name((plim_category)out->view->categories.of[one->id]);
    plim_perfetto_add_number(out, "bytes", span->bytes);
    plim_perfetto_add_string(out, "category", category);
    if (span->frame == PLIM_NONE) {
        plim_perfetto_name(event, category);
        return;
    }
    plim_perfetto_name_frame(out, event, span->frame);
    plim_perfetto_add_stack(out, one->is_stack_of_free ? "stack of its free" : "stack", one->stack);
}

/* Gives the event its name, which is borrowed until it is put, and its facts. */
static void describe(plim_perfetto *out, const plim_course_span *span,
                     Plim__Perfetto__TrackEvent *event)
{
    plim_text_reset(&out->text);
    switch (span->track) {
    case PLIM_COURSE_STEPS:
        plim_text_append_format(&out->text, "step %" PRIu64, span->number);
        plim_perfetto_name(event, plim_text_string(&out->text));
        plim_perfetto_add_number(out, "peak_requested_bytes", span->bytes);
        break;
    case PLIM_COURSE_ANNOTATIONS: {
        size_t bytes = 0;
        const char *const name = plim_history_string(out->job->history, span->name, &bytes);
        plim_clean_text_add(&out->text, name, bytes, '\n');
        plim_perfetto_name(event, plim_text_string(&out->text));
        break;
    }
    case PLIM_COURSE_SEGMENTS:
        plim_perfetto_name(event, "segment");
        plim_perfetto_add_number(out, "bytes", span->bytes);
        plim_perfetto_add_number(out, "address", span->addr);
        break;
    case PLIM_COURSE_ALLOCATIONS:
    case PLIM_COURSE_TRACK_COUNT:
        describe_life(out, span, event);
        break;
    }
}

static void put_span(void *ctx, const plim_course_span *span)
{
    plim_perfetto *const out = ctx;
    const uint64_t track = plim_perfetto_lane(out, span->track, span->lane);
    Plim__Perfetto__TrackEvent begin = plim_perfetto_event(PLIM_PERFETTO_BEGIN, track);
    Plim__Perfetto__TrackEvent end = plim_perfetto_event(PLIM_PERFETTO_END, track);
    begin.has_category = true;
    begin.category = plim_message_string(plim_course_track_name(span->track));
    describe(out, span, &begin);
    add_bounds(out, span);
    plim_perfetto_put(out, span->begin_us, &begin);
    plim_perfetto_put(out, span->end_us, &end);
}

/* --- marks --- */

static void put_mark(void *ctx, const plim_course_mark *mark)
{
    plim_perfetto *const out = ctx;
    const plim_figures *const figures = &mark->figures;
    Plim__Perfetto__TrackEvent event =
        plim_perfetto_event(PLIM_PERFETTO_INSTANT, plim_perfetto_marks(out));
    plim_perfetto_name(&event, mark->is_oom ? "out of memory" : "peak");
    if (mark->event != PLIM_AT_START) {
        plim_perfetto_add_number(out, "event", (uint64_t)mark->event);
    }
    if (mark->is_oom) {
        plim_perfetto_add_number(out, "request_bytes", mark->request_bytes);
        plim_perfetto_add_stack(out, "stack", mark->stack);
    }
    if (mark->has_device_free) {
        plim_perfetto_add_number(out, "device_free_bytes", mark->device_free_bytes);
    }
    plim_perfetto_add_number(out, "requested_bytes", figures->requested_bytes);
    plim_perfetto_add_number(out, "allocated_bytes", figures->allocated_bytes);
    plim_perfetto_add_number(out, "active_bytes", figures->active_bytes);
    plim_perfetto_add_number(out, "reserved_bytes", figures->reserved_bytes);
    plim_perfetto_put(out, mark->time_us, &event);
}

/* --- the trace --- */

/* The origin of the trace, at its beginning: the format has no place for it. */
static void put_origin(plim_perfetto *out)
{
    const char *const title = out->job->options->title;
    Plim__Perfetto__TrackEvent event =
        plim_perfetto_event(PLIM_PERFETTO_INSTANT, plim_perfetto_marks(out));
    plim_perfetto_name(&event, "recording");
    plim_perfetto_add_string(out, "exporter", "plimsoll " PLIM_VERSION);
    plim_perfetto_add_string(out, "times",
                             out->has_times ? "as recorded" : "none: each event takes 1 µs");
    plim_text_reset(&out->text);
    if (title != NULL) {
        plim_clean_text_add(&out->text, title, strlen(title), '\n');
        plim_perfetto_add_string(out, "source", plim_text_string(&out->text));
    }
    plim_perfetto_put(out, plim_course_origin_us(out->view->device), &event);
}

static plim_status write_device(plim_perfetto *out, size_t place, plim_error *err)
{
    const plim_course_sink sink = {
        .counter = put_counter, .span = put_span, .mark = put_mark, .ctx = out
    };
    plim_status status = plim_perfetto_begin_device(out, place, err);
    if (status == PLIM_OK) {
        plim_perfetto_put_tracks(out);
        put_origin(out);
        status = plim_course_run(out->view, out->job->options->lives_min_bytes, &sink, err);
    }
    plim_perfetto_end_device(out);
    return status;
}

plim_status plim_export_perfetto(plim_export_job *job, plim_sink sink, plim_error *err)
{
    plim_perfetto out = { .job = job };
    plim_messages_init(&out.messages, sink, job->mem);
    plim_status status = PLIM_OK;
    for (size_t i = 0; i < job->view_count && status == PLIM_OK; i++) {
        status = write_device(&out, i, err);
    }
    if (status == PLIM_OK) {
        status = plim_messages_status(&out.messages, err);
    }
    plim_messages_deinit(&out.messages);
    return status;
}
