/*
 * answer.h - a statement's answer as one text: "1|train.py;2|NULL".
 */
#ifndef PLIMSOLL_TESTS_QUERY_ANSWER_H
#define PLIMSOLL_TESTS_QUERY_ANSWER_H

#include "plimsoll/query.h"

#include "base/text.h"

#include <string.h>

static inline bool answer_row(void *ctx, const plim_query_value *values, size_t count)
{
    plim_text *const out = ctx;
    plim_text_append_string(out, out->length > 0 ? ";" : "");
    for (size_t i = 0; i < count; i++) {
        const plim_query_value *const one = &values[i];
        plim_text_append_string(out, i > 0 ? "|" : "");
        switch (one->type) {
        case PLIM_QUERY_TYPE_INTEGER:
            plim_text_append_format(out, "%lld", (long long)one->integer);
            break;
        case PLIM_QUERY_TYPE_REAL:
            plim_text_append_format(out, "%g", one->real);
            break;
        case PLIM_QUERY_TYPE_TEXT:
        case PLIM_QUERY_TYPE_BLOB:
            plim_text_append(out, one->data, one->bytes);
            break;
        case PLIM_QUERY_TYPE_NULL:
        case PLIM_QUERY_TYPE_COUNT:
            plim_text_append_string(out, "NULL");
            break;
        }
    }
    return true;
}

/* Appends to `out`, or to nothing where it fails: then `err` says why. */
static inline plim_status answer(plim_query *query, const char *sql, plim_text *out,
                                 plim_error *err)
{
    const plim_query_reader reader = { .row = answer_row, .ctx = out };
    return plim_query_run(query, sql, strlen(sql), &reader, err);
}

#endif
