/*
 * values.c - values of a row that take more than a call. See values.h.
 */
#include "query/values.h"

#include "inspect/frame_text.h"

#include <inttypes.h>
#include <stdio.h>

void plim_put_string(sqlite3_context *out, const plim_history *history, uint32_t string)
{
    if (string == PLIM_NONE) {
        return;
    }
    size_t bytes = 0;
    const char *const text = plim_history_string(history, string, &bytes);
    sqlite3_result_text64(out, text, bytes, SQLITE_STATIC, SQLITE_UTF8);
}

void plim_put_pool(sqlite3_context *out, plim_pool_id pool)
{
    char text[48];
    const int bytes = snprintf(text, sizeof text, "%" PRIu64 ":%" PRIu64, pool.a, pool.b);
    sqlite3_result_text(out, text, bytes, SQLITE_TRANSIENT);
}

void plim_put_error(sqlite3_context *out, plim_query *query, const plim_error *err)
{
    query->error = *err;
    sqlite3_result_error(out, err->message, -1);
}

void plim_put_scratch(sqlite3_context *out, plim_query *query)
{
    const plim_text *const text = &query->scratch;
    plim_error err = { 0 };
    if (text->status == PLIM_LIMIT) {
        sqlite3_result_error_toobig(out);
    } else if (plim_text_status(text, "naming a stack", &err) != PLIM_OK) {
        plim_put_error(out, query, &err);
    } else {
        sqlite3_result_text64(out, plim_text_string(text), text->length, SQLITE_TRANSIENT,
                              SQLITE_UTF8);
    }
}

void plim_put_frame(sqlite3_context *out, plim_query *query, uint32_t frame, plim_label_part part)
{
    if (frame == PLIM_NONE) {
        return;
    }
    const plim_frame *const place = plim_history_frame(query->history, frame);
    switch (part) {
    case PLIM_LABEL_FUNCTION:
        plim_put_string(out, query->history, place->name);
        break;
    case PLIM_LABEL_FILE:
        plim_put_string(out, query->history, place->filename);
        break;
    case PLIM_LABEL_LINE:
        plim_put_known(out, place->line > 0, place->line);
        break;
    case PLIM_LABEL_TEXT:
        plim_text_reset(&query->scratch);
        plim_frame_text_add(&query->scratch, query->history, frame, false);
        plim_put_scratch(out, query);
        break;
    }
}

void plim_put_label(sqlite3_context *out, plim_query *query, uint32_t stack, plim_label_part part)
{
    plim_put_frame(out, query, plim_query_label(query, stack), part);
}
