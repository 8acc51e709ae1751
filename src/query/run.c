/*
 * run.c - one statement, from its text to its rows.
 */
#include "query/database.h"

#include "base/clock.h"
#include "base/error.h"

#include <inttypes.h>
#include <string.h>

static plim_query_value value_of(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return (plim_query_value){ .type = PLIM_QUERY_TYPE_INTEGER,
                                   .integer = sqlite3_column_int64(statement, column) };
    case SQLITE_FLOAT:
        return (plim_query_value){ .type = PLIM_QUERY_TYPE_REAL,
                                   .real = sqlite3_column_double(statement, column) };
    case SQLITE_TEXT: {
        const char *const text = (const char *)sqlite3_column_text(statement, column);
        return (plim_query_value){ .type = PLIM_QUERY_TYPE_TEXT,
                                   .data = text,
                                   .bytes = (size_t)sqlite3_column_bytes(statement, column) };
    }
    case SQLITE_BLOB: {
        const char *const data = sqlite3_column_blob(statement, column);
        return (plim_query_value){ .type = PLIM_QUERY_TYPE_BLOB,
                                   .data = data != NULL ? data : "",
                                   .bytes = (size_t)sqlite3_column_bytes(statement, column) };
    }
    default:
        return (plim_query_value){ .type = PLIM_QUERY_TYPE_NULL };
    }
}

static plim_status stopped(plim_error *err)
{
    return plim_fail(err, PLIM_CANCELLED, "the reader stopped the statement");
}

static plim_status name_columns(sqlite3_stmt *statement, const char **names, int count,
                                const plim_query_reader *reader, plim_error *err)
{
    for (int i = 0; i < count; i++) {
        names[i] = sqlite3_column_name(statement, i);
        if (names[i] == NULL) {
            return plim_fail_memory(err, "naming the columns of a result");
        }
    }
    return reader->begin == NULL || reader->begin(reader->ctx, names, (size_t)count) ? PLIM_OK
                                                                                     : stopped(err);
}

static plim_status read_rows(plim_query *query, sqlite3_stmt *statement, plim_query_value *values,
                             const plim_query_reader *reader, plim_error *err)
{
    const int count = sqlite3_column_count(statement);
    int code = SQLITE_OK;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < count; i++) {
            values[i] = value_of(statement, i);
            if (values[i].type == PLIM_QUERY_TYPE_TEXT && values[i].data == NULL) {
                return plim_query_fail(query, SQLITE_NOMEM, err);
            }
        }
        if (!reader->row(reader->ctx, values, (size_t)count)) {
            return stopped(err);
        }
    }
    return code == SQLITE_DONE ? PLIM_OK : plim_query_fail(query, code, err);
}

static plim_status deliver(plim_query *query, sqlite3_stmt *statement,
                           const plim_query_reader *reader, plim_error *err)
{
    const int count = sqlite3_column_count(statement);
    const size_t room = count > 0 ? (size_t)count : 1;
    const char **const names = plim_mem_alloc(query->mem, room, sizeof *names);
    plim_query_value *const values = plim_mem_alloc(query->mem, room, sizeof *values);
    plim_status status = PLIM_OK;
    if (names == NULL || values == NULL) {
        status = plim_fail_memory(err, "reading the rows of a statement");
    } else {
        status = name_columns(statement, names, count, reader, err);
        if (status == PLIM_OK) {
            status = read_rows(query, statement, values, reader, err);
        }
    }
    plim_mem_free(query->mem, values, values != NULL ? room : 0, sizeof *values);
    plim_mem_free(query->mem, (void *)names, names != NULL ? room : 0, sizeof *names);
    return status;
}

/* The rest may hold blanks, comments and semicolons, which SQLite reads as no statement. */
static plim_status check_rest(plim_query *query, const char *rest, size_t bytes, plim_error *err)
{
    while (bytes > 0) {
        sqlite3_stmt *second = NULL;
        const char *end = NULL;
        const int code = sqlite3_prepare_v2(query->db, rest, (int)bytes, &second, &end);
        (void)sqlite3_finalize(second);
        if (code != SQLITE_OK || second != NULL) {
            return plim_fail(err, PLIM_INVALID_ARGUMENT,
                             "a second statement follows the first; run one at a time");
        }
        if (end == rest) {
            break;
        }
        bytes -= (size_t)(end - rest);
        rest = end;
    }
    query->forbidden = NULL;
    return PLIM_OK;
}

static plim_status prepare(plim_query *query, const char *sql, size_t bytes,
                           sqlite3_stmt **ret_statement, plim_error *err)
{
    const char *rest = sql;
    const int code = sqlite3_prepare_v2(query->db, sql, (int)bytes, ret_statement, &rest);
    if (code != SQLITE_OK) {
        return plim_query_fail(query, code, err);
    }
    if (*ret_statement == NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "there is no statement");
    }
    PLIM_TRY(check_rest(query, rest, bytes - (size_t)(rest - sql), err));
    const bool reads =
        sqlite3_stmt_readonly(*ret_statement) != 0 && sqlite3_column_count(*ret_statement) > 0;
    if (query->is_guarded && !reads) {
        return plim_fail(err, PLIM_FORBIDDEN, "queries only read: this statement is refused");
    }
    return PLIM_OK;
}

static plim_status check_text(const plim_query *query, const char *sql, size_t bytes,
                              plim_error *err)
{
    const char *const zero = memchr(sql, '\0', bytes);
    const int most = sqlite3_limit(query->db, SQLITE_LIMIT_SQL_LENGTH, -1);
    if (zero != NULL) {
        return plim_fail_at(err, PLIM_INVALID_ARGUMENT, (uint64_t)(zero - sql),
                            "the statement has a zero byte");
    }
    if (bytes >= (size_t)most) {
        return plim_fail(err, PLIM_LIMIT, "the statement has %zu bytes; at most %d are read", bytes,
                         most - 1);
    }
    return PLIM_OK;
}

/* 0: none, as where the limit is beyond what the clock counts. */
static uint64_t deadline_of(const plim_query *query)
{
    const double seconds = query->time_limit_seconds;
    return seconds > 0 && seconds < 1e9
               ? plim_clock_now_ns(&plim_clock_system) + (uint64_t)(seconds * 1e9)
               : 0;
}

plim_status plim_query_run(plim_query *query, const char *sql, size_t bytes,
                           const plim_query_reader *reader, plim_error *err)
{
    sqlite3_stmt *statement = NULL;
    query->error = (plim_error){ 0 };
    query->forbidden = NULL;
    query->is_late = false;
    query->deadline_ns = deadline_of(query);
    PLIM_TRY(check_text(query, sql, bytes, err));
    plim_status status = prepare(query, sql, bytes, &statement, err);
    if (status == PLIM_OK) {
        status = deliver(query, statement, reader, err);
    }
    (void)sqlite3_finalize(statement);
    return status;
}
