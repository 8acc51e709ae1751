/*
 * plimsoll/query.h - questions to a history in SQL.
 *
 * A query shows a history as tables of SQLite, without a copy of it: a row is read off the history
 * when SQL reads it, and what has to be worked out (lifetimes, steps, findings) is worked out when
 * the first statement needs it. Statements only read. docs/formats/query-tables.md describes the
 * tables.
 */
#ifndef PLIMSOLL_QUERY_H
#define PLIMSOLL_QUERY_H

#include "plimsoll/history.h"

PLIM_BEGIN_DECLS

/* --- what can be read --- */

/* In the list: enumerator, name. */
#define PLIM_QUERY_TYPE_LIST(X)           \
    X(PLIM_QUERY_TYPE_NULL, "null")       \
    X(PLIM_QUERY_TYPE_INTEGER, "integer") \
    X(PLIM_QUERY_TYPE_REAL, "real")       \
    X(PLIM_QUERY_TYPE_TEXT, "text")       \
    X(PLIM_QUERY_TYPE_BLOB, "blob")

typedef enum plim_query_type {
#define PLIM_QUERY_TYPE_ENUM(code, name) code,
    PLIM_QUERY_TYPE_LIST(PLIM_QUERY_TYPE_ENUM)
#undef PLIM_QUERY_TYPE_ENUM
        PLIM_QUERY_TYPE_COUNT
} plim_query_type;

PLIM_API const char *plim_query_type_name(plim_query_type type);

typedef struct plim_query_column {
    const char *name;
    plim_query_type type;
    const char *meaning;
    bool is_parameter; /* of a table-valued function; not part of SELECT * */
} plim_query_column;

typedef struct plim_query_table {
    const char *name;
    const char *meaning;
    const plim_query_column *columns;
    size_t column_count;
    const char *view; /* the SELECT that a view stands for; NULL: a table */
} plim_query_table;

typedef struct plim_query_function {
    const char *usage; /* "size(bytes)" */
    const char *meaning;
} plim_query_function;

/** Tables, and then views. */
PLIM_API size_t plim_query_table_count(void);
PLIM_API const plim_query_table *plim_query_table_at(size_t index);
/** Functions beside those of SQLite. */
PLIM_API size_t plim_query_function_count(void);
PLIM_API const plim_query_function *plim_query_function_at(size_t index);

/* --- asking --- */

typedef struct plim_query plim_query;

/* All zero is a valid default. */
typedef struct plim_query_options {
    const plim_mem *mem;         /* borrowed until close; NULL: the C heap. SQLite has its own */
    double time_limit_seconds;   /* of each statement; 0: none */
    uint64_t memory_limit_bytes; /* of SQLite in this process, while the query is open; 0: none */
} plim_query_options;

/**
 * Open a history for statements.
 *
 * history    borrowed: it must outlive the query
 * ret_query  the caller's, until plim_query_close()
 * errors     PLIM_OUT_OF_HOST_MEMORY
 * threads    one at a time for each query; any number of queries may read one history
 */
PLIM_API PLIM_MUST_USE plim_status plim_query_open(const plim_history *history,
                                                   const plim_query_options *options,
                                                   plim_query **ret_query, plim_error *err);
/** NULL is allowed. */
PLIM_API void plim_query_close(plim_query *query);

/* One value of a row; valid during the call that hands it over. */
typedef struct plim_query_value {
    plim_query_type type;
    int64_t integer;
    double real;
    const char *data; /* TEXT, BLOB: any bytes */
    size_t bytes;
} plim_query_value;

/* The reader of a result; both functions return false to stop. */
typedef struct plim_query_reader {
    /* Once, before the first row. */
    bool (*begin)(void *ctx, const char *const *names, size_t count);
    bool (*row)(void *ctx, const plim_query_value *values, size_t count);
    void *ctx;
} plim_query_reader;

/* Rows as comma-separated values (RFC 4180), a line of names first; lines end in a line feed. NULL
 * is an empty field, an empty text "", a blob hexadecimal. */
typedef struct plim_query_csv {
    /* Takes all of the bytes, or returns false: then it is not called again. */
    bool (*write)(void *ctx, const void *data, size_t bytes);
    void *ctx;
    bool failed; /* it did; the statement ends with PLIM_CANCELLED */
} plim_query_csv;

/** The reader that writes such; it borrows `csv`. */
PLIM_API plim_query_reader plim_query_csv_reader(plim_query_csv *csv);

/**
 * Run one statement, which reads.
 *
 * sql     UTF-8; a semicolon and comments may follow the statement, a second one may not
 * errors  PLIM_INVALID_ARGUMENT: not a statement that SQLite understands (the error's offset is
 *         the byte, where it is known); PLIM_FORBIDDEN: it would do more than read; PLIM_LIMIT:
 *         time, memory or a size is used up; PLIM_CANCELLED: the reader stopped it;
 *         PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_API PLIM_MUST_USE plim_status plim_query_run(plim_query *query, const char *sql, size_t bytes,
                                                  const plim_query_reader *reader, plim_error *err);

PLIM_END_DECLS

#endif
