/*
 * values.h - values of a row, as SQLite takes them. Unknown ones are NULL.
 */
#ifndef PLIMSOLL_QUERY_VALUES_H
#define PLIMSOLL_QUERY_VALUES_H

#include "query/relation.h"

/* SQLite's integers end at 2^63 - 1; beyond, the nearest real number. */
static inline void plim_put_u64(sqlite3_context *out, uint64_t value)
{
    if (value <= INT64_MAX) {
        sqlite3_result_int64(out, (sqlite3_int64)value);
    } else {
        sqlite3_result_double(out, (double)value);
    }
}

static inline void plim_put_i64(sqlite3_context *out, int64_t value)
{
    sqlite3_result_int64(out, value);
}

static inline void plim_put_bool(sqlite3_context *out, bool value)
{
    sqlite3_result_int(out, value);
}

/* An address, bit by bit: those from 2^63 on are below 0. address() shows it. */
static inline void plim_put_addr(sqlite3_context *out, plim_addr addr)
{
    sqlite3_result_int64(out, (sqlite3_int64)addr);
}

/* An index, or PLIM_NONE. */
static inline void plim_put_index(sqlite3_context *out, uint32_t index)
{
    if (index != PLIM_NONE) {
        sqlite3_result_int64(out, index);
    }
}

static inline void plim_put_known(sqlite3_context *out, bool is_known, uint64_t value)
{
    if (is_known) {
        plim_put_u64(out, value);
    }
}

static inline void plim_put_time(sqlite3_context *out, int64_t time_us)
{
    if (time_us != PLIM_TIME_UNKNOWN) {
        sqlite3_result_int64(out, time_us);
    }
}

/* A step, or PLIM_NO_STEP. */
static inline void plim_put_step(sqlite3_context *out, uint64_t step)
{
    if (step != PLIM_NO_STEP) {
        plim_put_u64(out, step);
    }
}

/* A constant, or NULL. */
static inline void plim_put_word(sqlite3_context *out, const char *word)
{
    sqlite3_result_text(out, word, -1, SQLITE_STATIC);
}

/* A string of the history, or NULL for PLIM_NONE. */
void plim_put_string(sqlite3_context *out, const plim_history *history, uint32_t string);
/* "0:1" */
void plim_put_pool(sqlite3_context *out, plim_pool_id pool);
/* The query's scratch, copied. */
void plim_put_scratch(sqlite3_context *out, plim_query *query);
/* A value that could not be worked out: the statement fails with it. */
void plim_put_error(sqlite3_context *out, plim_query *query, const plim_error *err);

/* Columns of the frame that speaks for a stack. */
typedef enum plim_label_part {
    PLIM_LABEL_FUNCTION,
    PLIM_LABEL_FILE,
    PLIM_LABEL_LINE,
    PLIM_LABEL_TEXT, /* "train.py:41 in step" */
} plim_label_part;

/* A part of a frame, or NULL for PLIM_NONE. */
void plim_put_frame(sqlite3_context *out, plim_query *query, uint32_t frame, plim_label_part part);
/* The same of the frame that speaks for a stack. */
void plim_put_label(sqlite3_context *out, plim_query *query, uint32_t stack, plim_label_part part);

#endif
