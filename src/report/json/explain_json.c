/*
 * explain_json.c - the document `explain/1`.
 *
 * One shape for one text and for many: messages of all of them stand in one array at the top, each
 * with the name of its text, so that a program need not ask how many there were.
 */
#include "report/json/documents.h"
#include "verdict/names.h"

#include "base/error.h"
#include "base/json_out.h"
#include "report/json/parts.h"
#include "verdict/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MEMBER_NAME_MAX 64u

static void member_bytes(plim_json *json, const char *key, uint64_t bytes)
{
    plim_json_member_known_u64(json, key, bytes != PLIM_BYTES_UNKNOWN, bytes);
}

/* Levels are computed in doubles; bytes are integers all the same. */
static void member_rounded(plim_json *json, const char *key, double bytes)
{
    plim_json_key(json, key);
    if (!isfinite(bytes)) {
        plim_json_null(json);
    } else if (fabs(bytes) < 9.0e18) { /* what an int64_t holds */
        plim_json_i64(json, (int64_t)llround(bytes));
    } else {
        plim_json_double(json, bytes);
    }
}

static void write_advice(plim_json *json, const plim_advice *advice, size_t count)
{
    plim_json_member_array(json, "advice");
    for (size_t i = 0; i < count; i++) {
        plim_json_begin_object(json);
        plim_json_member_string(json, "id", advice[i].id);
        plim_json_member_string(json, "text", advice[i].text);
        plim_json_member_optional_string(json, "command", advice[i].command);
        plim_json_member_optional_string(json, "source", advice[i].source);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

/* ---- messages ------------------------------------------------------------------------------- */

static void write_figures(plim_json *json, const plim_oom_message *message)
{
    for (int i = 0; i < PLIM_FIGURE_PRINTED_COUNT; i++) {
        member_bytes(json, plim_figure_name((plim_figure_id)i), message->request.figures[i].bytes);
    }
    plim_json_member_object(json, "slack_bytes");
    for (int i = 0; i < PLIM_FIGURE_PRINTED_COUNT; i++) {
        if (message->request.figures[i].bytes != PLIM_BYTES_UNKNOWN) {
            plim_json_member_u64(json, plim_figure_name((plim_figure_id)i),
                                 message->request.figures[i].slack_bytes);
        }
    }
    plim_json_end_object(json);
    plim_json_member_object(json, "places");
    for (int i = 0; i < PLIM_FIGURE_PRINTED_COUNT; i++) {
        const plim_figure *figure = &message->request.figures[i];
        if (figure->bytes != PLIM_BYTES_UNKNOWN && figure->length > 0) {
            plim_json_key(json, plim_figure_name((plim_figure_id)i));
            plim_json_begin_array(json);
            plim_json_u64(json, figure->offset);
            plim_json_u64(json, figure->length);
            plim_json_end_array(json);
        }
    }
    plim_json_end_object(json);
}

static void write_processes(plim_json *json, const plim_oom_message *message)
{
    plim_json_member_array(json, "processes");
    for (size_t i = 0; i < message->request.process_count; i++) {
        plim_json_begin_object(json);
        plim_json_member_u64(json, "pid", message->request.processes[i].pid);
        member_bytes(json, "bytes", message->request.processes[i].bytes);
        plim_json_member_bool(json, "is_this", message->request.processes[i].is_this);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_verdict(plim_json *json, const plim_oom_message *message)
{
    plim_json_verdict(json, &message->judgement, message->why);
    write_advice(json, message->advice, message->advice_count);
}

static void write_message(plim_json *json, const plim_explained *file,
                          const plim_oom_message *message)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "file", file->path);
    plim_json_member_u64(json, "line", message->line);
    plim_json_member_u64(json, "offset", message->offset);
    plim_json_member_u64(json, "length", message->length);
    plim_json_member_u64(json, "count", message->count);
    plim_json_member_string(json, "framework", message->framework);
    plim_json_member_string(json, "form", message->form);
    plim_json_member_string(json, "program", plim_names_of_families.names[message->request.family]);
    plim_json_member_optional_string(json, "versions", message->versions);
    plim_json_member_string(json, "excerpt", message->excerpt);
    plim_json_member_bool(json, "follower", message->is_follower);
    plim_json_member_known_i64(json, "device",
                               message->request.subject.device != PLIM_DEVICE_UNKNOWN,
                               message->request.subject.device);
    write_figures(json, message);
    write_processes(json, message);
    write_verdict(json, message);
    plim_json_end_object(json);
}

static void write_messages(plim_json *json, const plim_explained *files, size_t count)
{
    plim_json_member_array(json, "messages");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; files[i].is_read && j < files[i].message_count; j++) {
            write_message(json, &files[i], files[i].messages[j]);
        }
    }
    plim_json_end_array(json);
}

/* ---- series --------------------------------------------------------------------------------- */

/* Figures of a series: "growth_bytes_per_step", or "growth_percent_per_step". */
static const char *name_of(const plim_series *series, const char *in_bytes,
                           char name[MEMBER_NAME_MAX])
{
    const char *const unit = strstr(in_bytes, "bytes");
    snprintf(name, MEMBER_NAME_MAX, "%.*s%s%s", (int)(unit - in_bytes), in_bytes,
             series->is_percent ? "percent" : "bytes", unit + strlen("bytes"));
    return name;
}

static void member_amount(plim_json *json, const plim_series *series, const char *in_bytes,
                          double amount)
{
    char name[MEMBER_NAME_MAX];
    (void)name_of(series, in_bytes, name);
    if (series->is_percent) {
        plim_json_member_double(json, name, amount);
    } else {
        member_rounded(json, name, amount);
    }
}

static void member_rate(plim_json *json, const plim_series *series, const char *in_bytes,
                        double rate)
{
    char name[MEMBER_NAME_MAX];
    plim_json_member_double(json, name_of(series, in_bytes, name), rate);
}

static void write_trend(plim_json *json, const plim_series *series)
{
    const plim_trend *trend = &series->trend;
    plim_json_member_string(json, "class", plim_trend_name(trend->kind));
    plim_json_member_double(json, "confidence", trend->confidence);
    member_rate(json, series, "growth_bytes_per_step", trend->growth_bytes_per_step);
    member_rate(json, series, "growth_low_bytes_per_step", trend->growth_low_bytes_per_step);
    member_rate(json, series, "growth_high_bytes_per_step", trend->growth_high_bytes_per_step);
    plim_json_member_double(json, "first_step", trend->first_step);
    plim_json_member_double(json, "last_step", trend->last_step);
    member_amount(json, series, "first_bytes", trend->first_bytes);
    member_amount(json, series, "last_bytes", trend->last_bytes);
    member_amount(json, series, "min_bytes", trend->min_bytes);
    member_amount(json, series, "max_bytes", trend->max_bytes);
    plim_json_member_double(json, "noise_share", trend->noise_share);
    plim_json_member_double(json, "onset_step", trend->onset_step);
    plim_json_member_u64(json, "stair_count", trend->stair_count);
    member_amount(json, series, "stair_bytes", trend->stair_bytes);
    plim_json_member_double(json, "stair_period_steps", trend->stair_period_steps);
}

static void write_series_members(plim_json *json, const plim_explained *file, size_t index)
{
    const plim_series *series = file->series[index];
    plim_json_member_string(json, "file", file->path);
    plim_json_member_string(json, "name", series->name);
    plim_json_member_string(json, "unit", series->unit);
    plim_json_member_optional_string(json, "step_name", series->step_name);
    plim_json_member_u64(json, "points", series->count);
    plim_json_member_u64(json, "seen", series->seen);
    plim_json_member_u64(json, "first_line", series->first_line);
    plim_json_member_u64(json, "last_line", series->last_line);
    plim_json_member_bool(json, "host", series->is_host);
    write_trend(json, series);
    plim_json_member_known_i64(json, "capacity_bytes",
                               series->capacity_bytes > 0 && !series->is_percent,
                               (int64_t)llround(fmin(series->capacity_bytes, 9.0e18)));
    plim_json_member_known_double(json, "exhaustion_step", series->trend.has_exhaustion,
                                  series->trend.exhaustion_step);
    const bool has_advice = index == 0;
    write_advice(json, file->leak_advice, has_advice ? file->leak_advice_count : 0);
}

/* The first series of the first text that has one; all others within it. */
static void write_series(plim_json *json, const plim_explained *files, size_t count)
{
    bool has_main = false;
    plim_json_member_object(json, "series");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; files[i].is_read && j < files[i].series_count; j++) {
            if (!has_main) {
                write_series_members(json, &files[i], j);
                plim_json_member_array(json, "others");
                has_main = true;
                continue;
            }
            plim_json_begin_object(json);
            write_series_members(json, &files[i], j);
            plim_json_end_object(json);
        }
    }
    if (has_main) {
        plim_json_end_array(json);
    }
    plim_json_end_object(json);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* The index of a text's main message among those of all texts, `before` of which came earlier. */
static void write_main(plim_json *json, const plim_explained *file, size_t before)
{
    plim_json_key(json, "main");
    for (size_t i = 0; file != NULL && i < file->message_count; i++) {
        if (file->messages[i] == file->main_message) {
            plim_json_u64(json, before + i);
            return;
        }
    }
    plim_json_null(json);
}

static void write_files(plim_json *json, const plim_explained *files, size_t count)
{
    size_t before = 0;
    plim_json_member_array(json, "files");
    for (size_t i = 0; i < count; i++) {
        plim_json_begin_object(json);
        plim_json_member_string(json, "file", files[i].path);
        if (files[i].is_read) {
            plim_json_member_u64(json, "bytes", files[i].bytes);
            plim_json_member_u64(json, "lines", files[i].lines);
            plim_json_member_u64(json, "messages", files[i].message_count);
            write_main(json, &files[i], before);
            plim_json_member_u64(json, "unkept", files[i].unkept_count);
            before += files[i].message_count;
        } else {
            plim_json_error(json, &files[i].error);
        }
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_totals(plim_json *json, const plim_explained *files, size_t count)
{
    uint64_t bytes = 0;
    uint64_t lines = 0;
    uint64_t unkept = 0;
    size_t before = 0; /* messages of the texts before the first that has a main one */
    const plim_explained *answering = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!files[i].is_read) {
            continue;
        }
        bytes += files[i].bytes;
        lines += files[i].lines;
        unkept += files[i].unkept_count;
        if (answering == NULL && files[i].main_message != NULL) {
            answering = &files[i];
        }
        before += answering == NULL ? files[i].message_count : 0;
    }
    plim_json_member_u64(json, "bytes", bytes);
    plim_json_member_u64(json, "lines", lines);
    write_main(json, answering, before);
    plim_json_member_u64(json, "unkept", unkept);
}

plim_status plim_explain_json_write(plim_sink sink, const plim_explained *files, size_t count,
                                    const plim_page *page, plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "explain/1", page, err));
    write_totals(&json, files, count);
    write_messages(&json, files, count);
    write_series(&json, files, count);
    write_files(&json, files, count);
    return plim_document_finish(&json, page, err);
}
