/*
 * parts.c - what documents share. See parts.h.
 */
#include "report/json/parts.h"

#include "base/error.h"

#include <string.h>

static const char *const severities[PLIM_TONE_COUNT] = {
    [PLIM_TONE_PLAIN] = "info",     [PLIM_TONE_HEADING] = "main",   [PLIM_TONE_FAINT] = "context",
    [PLIM_TONE_USER] = "code",      [PLIM_TONE_WARN] = "warning",   [PLIM_TONE_BAD] = "failure",
    [PLIM_TONE_IN_USE] = "success", [PLIM_TONE_UNUSED] = "context",
};

static const char *const units[] = {
    [PLIM_UNIT_BYTES] = "bytes",  [PLIM_UNIT_COUNT] = "count",   [PLIM_UNIT_SHARE] = "share",
    [PLIM_UNIT_US] = "us",        [PLIM_UNIT_ID] = "id",         [PLIM_UNIT_RATIO] = "ratio",
    [PLIM_UNIT_PLAIN] = "number", [PLIM_UNIT_NUMBER] = "number", [PLIM_UNIT_PERCENT] = "percent",
    [PLIM_UNIT_LEVEL] = "bytes",
};

static void write_figures(plim_json *json, const plim_page_phrase *phrase)
{
    if (phrase->figure_count == 0) {
        return;
    }
    plim_json_member_object(json, "figures");
    for (size_t i = 0; i < phrase->figure_count; i++) {
        const plim_fact *figure = &phrase->figures[i];
        plim_json_key(json, figure->name != NULL ? figure->name : units[figure->unit]);
        if (figure->unit == PLIM_UNIT_ID) {
            plim_json_i64(json, (int64_t)figure->value);
        } else if (figure->unit == PLIM_UNIT_BYTES || figure->unit == PLIM_UNIT_COUNT ||
                   figure->unit == PLIM_UNIT_PLAIN || figure->unit == PLIM_UNIT_US) {
            plim_json_u64(json, figure->value);
        } else {
            plim_json_double(json, figure->real);
        }
    }
    plim_json_end_object(json);
}

/* Words alone are a string; where figures are in them, an object. */
static void write_phrase(plim_json *json, const plim_page_phrase *phrase)
{
    if (phrase->figure_count == 0) {
        plim_json_string_bytes(json, phrase->text, phrase->length);
        return;
    }
    plim_json_begin_object(json);
    plim_json_key(json, "text");
    plim_json_string_bytes(json, phrase->text, phrase->length);
    write_figures(json, phrase);
    plim_json_end_object(json);
}

static void write_cell(plim_json *json, const plim_cell *cell)
{
    if (cell->bar_total_bytes == 0) {
        write_phrase(json, &cell->phrase);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_u64(json, "bytes", cell->bar_bytes);
    plim_json_member_u64(json, "of_bytes", cell->bar_total_bytes);
    plim_json_end_object(json);
}

static void write_row(plim_json *json, const plim_table_item *table, const plim_row *row)
{
    plim_json_begin_object(json);
    plim_json_member_array(json, "cells");
    for (uint32_t i = 0; i < table->column_count; i++) {
        write_cell(json, &row->cells[i]);
    }
    plim_json_end_array(json);
    if (row->below != NULL) {
        plim_json_member_array(json, "below");
        for (const plim_item *item = row->below; item != NULL; item = item->next) {
            write_phrase(json, &item->phrase);
        }
        plim_json_end_array(json);
    }
    plim_json_end_object(json);
}

static void write_table(plim_json *json, const plim_table_item *table)
{
    plim_json_member_array(json, "columns");
    for (uint32_t i = 0; i < table->column_count; i++) {
        plim_json_string(json, table->columns[i].title);
    }
    plim_json_end_array(json);
    plim_json_member_array(json, "rows");
    for (const plim_row *row = table->rows; row != NULL; row = row->next) {
        write_row(json, table, row);
    }
    plim_json_end_array(json);
}

/* Its points are elsewhere in each document: here are the words around them. */
static void write_chart(plim_json *json, const plim_chart *chart)
{
    plim_json_member_optional_string(json, "title", chart->title);
    plim_json_member_optional_string(json, "low", chart->low_name);
    plim_json_member_optional_string(json, "high", chart->high_name);
    plim_json_member_string(json, "top", chart->top);
    plim_json_member_string(json, "foot", chart->foot);
    plim_json_member_string(json, "from", chart->from);
    plim_json_member_string(json, "to", chart->to);
    plim_json_member_array(json, "marks");
    for (size_t i = 0; i < chart->mark_count; i++) {
        plim_json_string(json, chart->marks[i].name);
    }
    plim_json_end_array(json);
}

static void write_bar(plim_json *json, const plim_device_bar *bar)
{
    plim_json_member_array(json, "parts");
    for (int i = 0; i < PLIM_BAR_PARTS; i++) {
        plim_json_begin_object(json);
        plim_json_member_optional_string(json, "text", bar->parts[i].words);
        plim_json_member_u64(json, "bytes", bar->parts[i].bytes);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
    plim_json_member_string(json, "end", bar->end);
    plim_json_member_u64(json, "end_bytes", bar->end_bytes);
    plim_json_member_optional_string(json, "request", bar->request);
    plim_json_member_array(json, "marks");
    for (size_t i = 0; i < bar->mark_count; i++) {
        plim_json_string(json, bar->marks[i].words);
    }
    plim_json_end_array(json);
}

static void write_item(plim_json *json, const plim_item *item)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "id", item->id);
    switch (item->kind) {
    case PLIM_ITEM_TEXT:
        plim_json_member_string(json, "severity", severities[item->tone]);
        if (item->lead[0] != '\0') {
            plim_json_member_string(json, "lead", item->lead);
        }
        plim_json_key(json, "text");
        plim_json_string_bytes(json, item->phrase.text, item->phrase.length);
        write_figures(json, &item->phrase);
        break;
    case PLIM_ITEM_TABLE:
        write_table(json, &item->table);
        break;
    case PLIM_ITEM_CHART:
        write_chart(json, &item->chart);
        break;
    case PLIM_ITEM_BAR:
        write_bar(json, item->bar);
        break;
    }
    plim_json_end_object(json);
}

plim_status plim_document_begin(plim_json *json, plim_sink sink, const char *schema,
                                const plim_page *page, plim_error *err)
{
    PLIM_TRY(plim_page_status(page, err));
    plim_json_init(json, sink, PLIM_JSON_PRETTY);
    plim_json_begin_object(json);
    plim_json_member_string(json, "schema", schema);
    return PLIM_OK;
}

plim_status plim_document_finish(plim_json *json, const plim_page *page, plim_error *err)
{
    plim_json_member_array(json, "says");
    for (const plim_item *item = page->first; item != NULL; item = item->next) {
        write_item(json, item);
    }
    plim_json_end_array(json);
    plim_json_end_object(json);
    return plim_json_finish(json) ? PLIM_OK : plim_fail(err, PLIM_IO, "cannot write the document");
}

/* ---- a failed request, and an unread file --------------------------------------------------- */

void plim_json_verdict(plim_json *json, const plim_judgement *judgement, const char *why)
{
    plim_json_member_string(json, "verdict", plim_verdict_name(judgement->verdict));
    plim_json_member_array(json, "alternatives");
    for (size_t i = 0; i < judgement->alternative_count; i++) {
        plim_json_string(json, plim_verdict_name(judgement->alternatives[i]));
    }
    plim_json_end_array(json);
    plim_json_member_double(json, "confidence", judgement->confidence);
    plim_json_member_string(json, "certainty", plim_certainty_name(judgement->finding.certainty));
    plim_json_member_string(json, "why", why);
}

void plim_json_failure(plim_json *json, const plim_failure *failure)
{
    plim_json_verdict(json, &failure->judgement, failure->why);
    plim_json_member_object(json, "figures");
    for (int i = 0; i < PLIM_FIGURE_COUNT; i++) {
        const uint64_t bytes = failure->request.figures[i].bytes;
        if (bytes != PLIM_BYTES_UNKNOWN) {
            plim_json_member_u64(json, plim_figure_name((plim_figure_id)i), bytes);
        }
    }
    plim_json_end_object(json);
}

void plim_json_error(plim_json *json, const plim_error *error)
{
    plim_json_member_object(json, "error");
    plim_json_member_string(json, "status", plim_status_name(error->status));
    plim_json_member_string(json, "message", error->message);
    plim_json_member_known_u64(json, "offset", error->offset != PLIM_NO_OFFSET, error->offset);
    plim_json_end_object(json);
}

/* ---- histories ------------------------------------------------------------------------------ */

void plim_json_member_time(plim_json *json, const char *key, int64_t time_us)
{
    plim_json_member_known_i64(json, key, time_us != PLIM_TIME_UNKNOWN, time_us);
}

void plim_json_history_string(plim_json *json, const plim_history *history, uint32_t string)
{
    size_t bytes = 0;
    const char *data = plim_history_string(history, string, &bytes);
    plim_json_string_bytes(json, data, bytes);
}

static void write_frame(plim_json *json, const plim_history *history, uint32_t frame)
{
    const plim_frame *place = plim_history_frame(history, frame);
    plim_json_begin_object(json);
    plim_json_key(json, "filename");
    plim_json_history_string(json, history, place->filename);
    plim_json_member_u64(json, "line", place->line);
    plim_json_key(json, "name");
    plim_json_history_string(json, history, place->name);
    if (place->fx != PLIM_NONE) {
        plim_json_key(json, "fx");
        plim_json_history_string(json, history, place->fx);
    }
    plim_json_end_object(json);
}

void plim_json_user_frame(plim_json *json, uint32_t user_frame)
{
    plim_json_member_known_u64(json, "user_frame", user_frame != PLIM_NONE, user_frame);
}

void plim_json_frames(plim_json *json, const plim_history *history, uint32_t index)
{
    const plim_stack stack = plim_history_stack(history, index);
    plim_json_member_array(json, "frames");
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        write_frame(json, history, stack.frames[i]);
    }
    plim_json_end_array(json);
}

void plim_json_moment_figures(plim_json *json, const plim_moment *moment)
{
    plim_json_member_u64(json, "allocated_bytes", moment->allocated_bytes);
    plim_json_member_u64(json, "allocated_slack_bytes", moment->allocated_slack_bytes);
    plim_json_member_u64(json, "active_bytes", moment->active_bytes);
    plim_json_member_u64(json, "active_slack_bytes", moment->active_slack_bytes);
    plim_json_member_u64(json, "reserved_bytes", moment->reserved_bytes);
    plim_json_member_u64(json, "live_count", moment->live_count);
    plim_json_member_double(json, "fragmentation", moment->fragmentation);
}

void plim_json_written_values(plim_json *json, const plim_text *values)
{
    for (size_t at = 0; at < values->length;) {
        const size_t bytes = strlen(values->data + at);
        plim_json_raw(json, values->data + at, bytes);
        at += bytes + 1;
    }
}
