/*
 * chrome.c - a history as a Chrome trace in JSON: a process for each device, by the course of the
 * device.
 *
 * Counters are apart, each with a series of its own: several series of one counter are drawn on top
 * of each other, and reserved bytes hold all the others. Spans that overlap, of segments and
 * allocations, are asynchronous events; each lane of annotations is a thread.
 */
#include "export/course.h"
#include "export/export.h"
#include "export/names.h"

#include "base/error.h"
#include "base/json_out.h"

#include <inttypes.h>
#include <stdio.h>

#define TEXT_BYTES_MAX ((size_t)1 << 30)

/* Threads of a process. */
#define THREAD_MARKS       1u
#define THREAD_STEPS       2u
#define THREAD_ANNOTATIONS 100u /* and the next */

typedef struct chrome_trace {
    plim_json json;
    const plim_export_job *job;
    const plim_device_view *view;
    uint64_t process; /* from 1: the device's place */
    size_t lanes;     /* of annotations, as many have a name */
    plim_frame_namer namer;
    plim_text text;
    plim_status status; /* of texts */
} chrome_trace;

/* --- events --- */

static void begin_event(chrome_trace *out, const char *name, const char *phase)
{
    plim_json_begin_object(&out->json);
    plim_json_member_string(&out->json, "name", name);
    plim_json_member_string(&out->json, "ph", phase);
    plim_json_member_u64(&out->json, "pid", out->process);
}

static void begin_event_at(chrome_trace *out, const char *name, const char *phase, int64_t time_us)
{
    begin_event(out, name, phase);
    plim_json_member_i64(&out->json, "ts", time_us);
}

static void end_event(chrome_trace *out)
{
    plim_json_end_object(&out->json); /* args */
    plim_json_end_object(&out->json);
}

/* The contents of out->text: whole, or they fail the trace. */
static const char *taken_text(chrome_trace *out)
{
    out->status = out->status == PLIM_OK ? out->text.status : out->status;
    return plim_text_string(&out->text);
}

static void put_name(chrome_trace *out, const char *kind, uint64_t thread, const char *name)
{
    begin_event(out, kind, "M");
    plim_json_member_u64(&out->json, "tid", thread);
    plim_json_member_object(&out->json, "args");
    plim_json_member_string(&out->json, "name", name);
    end_event(out);
}

static void put_counter(void *ctx, int64_t time_us, size_t counter, uint64_t bytes)
{
    chrome_trace *const out = ctx;
    begin_event_at(out, plim_course_counter_name(counter), "C", time_us);
    plim_json_member_object(&out->json, "args");
    plim_json_member_u64(&out->json, "bytes", bytes);
    end_event(out);
}

/* --- spans --- */

static void put_bounds(chrome_trace *out, const plim_course_span *span)
{
    if (!span->is_begun) {
        plim_json_member_string(&out->json, "begins", "before the recording");
    }
    if (!span->is_ended) {
        plim_json_member_string(&out->json, "ends", "after the recording");
    }
}

static void put_address(chrome_trace *out, plim_addr addr)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%#" PRIx64, addr);
    plim_json_member_string(&out->json, "address", text);
}

/* On a thread: spans of one do not overlap. */
static void begin_complete(chrome_trace *out, const plim_course_span *span, const char *name,
                           uint64_t thread)
{
    begin_event_at(out, name, "X", span->begin_us);
    plim_json_member_i64(&out->json, "dur", span->end_us - span->begin_us);
    plim_json_member_string(&out->json, "cat", plim_course_track_name(span->track));
    plim_json_member_u64(&out->json, "tid", thread);
    plim_json_member_object(&out->json, "args");
}

static void begin_async(chrome_trace *out, const plim_course_span *span, const char *name,
                        bool is_end)
{
    char id[48];
    (void)snprintf(id, sizeof id, "%" PRIu64 ".%" PRIu64, out->process, span->number);
    begin_event_at(out, name, is_end ? "e" : "b", is_end ? span->end_us : span->begin_us);
    plim_json_member_string(&out->json, "cat", plim_course_track_name(span->track));
    plim_json_member_string(&out->json, "id", id);
    plim_json_member_u64(&out->json, "tid", THREAD_STEPS);
    plim_json_member_object(&out->json, "args");
}

static const char *life_name(chrome_trace *out, const plim_course_span *span)
{
    if (span->frame == PLIM_NONE) {
        return plim_category_name((plim_category)out->view->categories.of[span->allocation->id]);
    }
    plim_text_reset(&out->text);
    plim_frame_name_add(&out->namer, &out->text, span->frame);
    return taken_text(out);
}

static void put_async(chrome_trace *out, const plim_course_span *span)
{
    const bool is_life = span->track == PLIM_COURSE_ALLOCATIONS;
    const char *const name = is_life ? life_name(out, span) : "segment";
    begin_async(out, span, name, false);
    plim_json_member_u64(&out->json, "bytes", span->bytes);
    if (is_life) {
        plim_json_member_string(
            &out->json, "category",
            plim_category_name((plim_category)out->view->categories.of[span->allocation->id]));
    }
    put_address(out, span->addr);
    put_bounds(out, span);
    end_event(out);
    begin_async(out, span, name, true);
    end_event(out);
}

static void put_annotation(chrome_trace *out, const plim_course_span *span)
{
    size_t bytes = 0;
    const char *const name = plim_history_string(out->job->history, span->name, &bytes);
    for (; out->lanes <= span->lane; out->lanes++) {
        put_name(out, "thread_name", THREAD_ANNOTATIONS + out->lanes, "annotations");
    }
    plim_text_reset(&out->text);
    plim_clean_text_add(&out->text, name, bytes, '\n');
    begin_complete(out, span, taken_text(out), THREAD_ANNOTATIONS + span->lane);
    put_bounds(out, span);
    end_event(out);
}

static void put_span(void *ctx, const plim_course_span *span)
{
    chrome_trace *const out = ctx;
    switch (span->track) {
    case PLIM_COURSE_STEPS:
        plim_text_reset(&out->text);
        plim_text_append_format(&out->text, "step %" PRIu64, span->number);
        begin_complete(out, span, taken_text(out), THREAD_STEPS);
        plim_json_member_u64(&out->json, "peak_requested_bytes", span->bytes);
        end_event(out);
        break;
    case PLIM_COURSE_ANNOTATIONS:
        put_annotation(out, span);
        break;
    case PLIM_COURSE_SEGMENTS:
    case PLIM_COURSE_ALLOCATIONS:
    case PLIM_COURSE_TRACK_COUNT:
        put_async(out, span);
        break;
    }
}

/* --- marks --- */

static void put_stack(chrome_trace *out, uint32_t stack)
{
    const plim_stack frames = plim_history_stack(out->job->history, stack);
    plim_json_member_array(&out->json, "stack");
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        plim_text_reset(&out->text);
        plim_frame_name_add(&out->namer, &out->text, frames.frames[i]);
        plim_json_string(&out->json, taken_text(out));
    }
    plim_json_end_array(&out->json);
}

static void put_mark(void *ctx, const plim_course_mark *mark)
{
    chrome_trace *const out = ctx;
    const plim_figures *const figures = &mark->figures;
    begin_event_at(out, mark->is_oom ? "out of memory" : "peak", "i", mark->time_us);
    plim_json_member_string(&out->json, "s", "p");
    plim_json_member_u64(&out->json, "tid", THREAD_MARKS);
    plim_json_member_object(&out->json, "args");
    plim_json_member_known_u64(&out->json, "event", mark->event != PLIM_AT_START,
                               (uint64_t)mark->event);
    if (mark->is_oom) {
        plim_json_member_u64(&out->json, "request_bytes", mark->request_bytes);
        plim_json_member_known_u64(&out->json, "device_free_bytes", mark->has_device_free,
                                   mark->device_free_bytes);
        put_stack(out, mark->stack);
    }
    plim_json_member_u64(&out->json, "requested_bytes", figures->requested_bytes);
    plim_json_member_u64(&out->json, "allocated_bytes", figures->allocated_bytes);
    plim_json_member_u64(&out->json, "active_bytes", figures->active_bytes);
    plim_json_member_u64(&out->json, "reserved_bytes", figures->reserved_bytes);
    end_event(out);
}

/* --- the trace --- */

static void put_process(chrome_trace *out)
{
    const plim_export_device_text name = plim_export_device_name(out->view->device->device);
    plim_text_reset(&out->text);
    plim_text_append_string(&out->text, name.text);
    if (!plim_course_has_times(out->view->device)) {
        plim_text_append_string(&out->text, PLIM_COURSE_NO_TIMES);
    }
    put_name(out, "process_name", 0, taken_text(out));
    put_name(out, "thread_name", THREAD_MARKS, "peak and failures");
    put_name(out, "thread_name", THREAD_STEPS, plim_course_track_name(PLIM_COURSE_STEPS));
}

static plim_status write_events(chrome_trace *out, plim_error *err)
{
    const plim_course_sink sink = {
        .counter = put_counter, .span = put_span, .mark = put_mark, .ctx = out
    };
    for (size_t i = 0; i < out->job->view_count; i++) {
        out->view = &out->job->views[i];
        out->process = i + 1;
        out->lanes = 0;
        put_process(out);
        PLIM_TRY(
            plim_course_run(&out->job->views[i], out->job->options->lives_min_bytes, &sink, err));
    }
    return PLIM_OK;
}

static plim_status write_trace(chrome_trace *out, plim_error *err)
{
    plim_json *const json = &out->json;
    plim_json_begin_object(json);
    plim_json_member_string(json, "displayTimeUnit", "ms");
    plim_json_member_object(json, "otherData");
    plim_json_member_string(json, "exporter", "plimsoll " PLIM_VERSION);
    plim_json_member_optional_string(json, "source", out->job->options->title);
    plim_json_end_object(json);
    plim_json_member_array(json, "traceEvents");
    PLIM_TRY(write_events(out, err));
    plim_json_end_array(json);
    plim_json_end_object(json);
    if (out->status != PLIM_OK) {
        return plim_fail_memory(err, "writing names of a trace");
    }
    return plim_json_finish(json) ? PLIM_OK : plim_fail(err, PLIM_IO, "cannot write");
}

plim_status plim_export_chrome(plim_export_job *job, plim_sink sink, plim_error *err)
{
    chrome_trace *const out = plim_arena_alloc(&job->arena, sizeof *out);
    if (out == NULL) {
        return plim_fail_memory(err, "writing a trace");
    }
    *out = (chrome_trace){ .job = job };
    plim_json_init(&out->json, sink, PLIM_JSON_COMPACT);
    plim_text_init(&out->text, job->mem, TEXT_BYTES_MAX);
    plim_frame_namer_init(&out->namer, job->history, '\n', job->mem);
    const plim_status status = write_trace(out, err);
    plim_frame_namer_deinit(&out->namer);
    plim_text_deinit(&out->text);
    return status;
}
