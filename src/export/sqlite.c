/*
 * sqlite.c - the tables of plimsoll query, copied into a database of SQLite, and its views.
 *
 * Columns are those that a query has, from the one place that knows them. What a plain SQLite has
 * no word for is put in words that it has: frame(stack) is looked up in stacks, live('peak') are
 * the allocations born by then and not freed. A view that needs more is kept as a table.
 */
#include "export/export.h"
#include "query/database.h"

#include "base/ascii.h"
#include "base/error.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define SQL_BYTES_MAX  ((size_t)1 << 20)
#define SCHEMA_VERSION 1          /* PRAGMA user_version */
#define APPLICATION_ID 0x504c494d /* "PLIM", which the command file(1) shows as a number */

/* A database while it is written. */
typedef struct copying {
    plim_query *query;
    sqlite3 *db;
    plim_text sql;
} copying;

/* The columns that name a row of a table; others have none but SQLite's own. */
static const struct {
    const char *table;
    const char *columns;
} keys[] = {
    { "devices", "device" },         { "steps", "device, step" },
    { "events", "device, event" },   { "allocations", "device, id" },
    { "moments", "device, event" },  { "stacks", "id" },
    { "frames", "stack, position" }, { "segments", "device, segment" },
    { "blocks", "device, block" },   { "pools", "device, number" },
    { "ooms", "device, oom" },       { "findings", "device, finding" },
    { "categories", "category" },
};

/* In the SELECT of a view; inside the brackets, `stack` is that of the row outside. */
static const struct {
    const char *of_query;
    const char *of_file;
} words[] = {
    { "frame(stack)", "(SELECT stacks.frame FROM stacks WHERE stacks.id = stack)" },
    { "live('peak')",
      "(SELECT allocations.* FROM allocations JOIN devices USING (device) WHERE born_event <= "
      "peak_event AND (freed_event IS NULL OR freed_event > peak_event))" },
    { "live('end')", "(SELECT * FROM allocations WHERE live_at_end)" },
};

static plim_status fail_sqlite(const copying *self, int code, plim_error *err)
{
    const int kind = code & 0xff;
    const bool is_the_files = kind == SQLITE_FULL || kind == SQLITE_IOERR ||
                              kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY;
    return is_the_files
               ? plim_fail(err, PLIM_IO, "cannot write the database: %s", sqlite3_errmsg(self->db))
               : plim_query_fail(self->query, code, err);
}

static plim_status run(copying *self, const char *sql, plim_error *err)
{
    const int code = sqlite3_exec(self->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? PLIM_OK : fail_sqlite(self, code, err);
}

static plim_status run_text(copying *self, plim_error *err)
{
    PLIM_TRY(plim_text_status(&self->sql, "writing a database", err));
    return run(self, plim_text_string(&self->sql), err);
}

/* --- tables --- */

static const char *key_of(const plim_query_table *table)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(keys[i].table, table->name) == 0) {
            return keys[i].columns;
        }
    }
    return NULL;
}

/* True if rows of a table are those of another one at a moment: allocations have them. */
static bool is_of_a_moment(const plim_query_table *table)
{
    return strcmp(table->name, "live") == 0;
}

static void put_columns(copying *self, const plim_query_table *table, bool with_types)
{
    static const char *const types[PLIM_QUERY_TYPE_COUNT] = { "", " INTEGER", " REAL", " TEXT",
                                                              " BLOB" };
    const char *lead = "";
    for (size_t i = 0; i < table->column_count; i++) {
        const plim_query_column *const column = &table->columns[i];
        if (!column->is_parameter) {
            plim_text_append_format(&self->sql, "%s\"%s\"%s", lead, column->name,
                                    with_types ? types[column->type] : "");
            lead = ", ";
        }
    }
}

static void put_create(copying *self, const plim_query_table *table)
{
    const char *const key = key_of(table);
    plim_text_reset(&self->sql);
    plim_text_append_format(&self->sql, "CREATE TABLE file.\"%s\"(", table->name);
    put_columns(self, table, true);
    if (key != NULL) {
        plim_text_append_format(&self->sql, ", PRIMARY KEY (%s)", key);
    }
    /* A key of several columns is the table itself, not an index beside it. */
    plim_text_append_string(&self->sql,
                            key != NULL && strchr(key, ',') != NULL ? ") WITHOUT ROWID" : ")");
}

static plim_status copy_table(copying *self, const plim_query_table *table, plim_error *err)
{
    put_create(self, table);
    PLIM_TRY(run_text(self, err));
    plim_text_reset(&self->sql);
    plim_text_append_format(&self->sql, "INSERT INTO file.\"%s\" SELECT ", table->name);
    put_columns(self, table, false);
    plim_text_append_format(&self->sql, " FROM main.\"%s\"", table->name);
    return run_text(self, err);
}

/* --- views --- */

/* The SELECT of a view in words of the file. */
static void put_select(plim_text *out, const char *select)
{
    while (*select != '\0') {
        size_t taken = 0;
        for (size_t i = 0; i < sizeof words / sizeof words[0] && taken == 0; i++) {
            const size_t length = strlen(words[i].of_query);
            if (strncmp(select, words[i].of_query, length) == 0) {
                plim_text_append_string(out, words[i].of_file);
                taken = length;
            }
        }
        if (taken == 0) {
            plim_text_append_char(out, *select);
            taken = 1;
        }
        select += taken;
    }
}

/* True if a SELECT calls what only a query has: a table with a parameter, or a function. */
static bool calls_a_query(const char *select)
{
    static const char *const calls[] = { "live(", "moments(",  "frame(",
                                         "size(", "duration(", "address(" };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (strstr(select, calls[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static plim_status copy_view(copying *self, const plim_query_table *view, plim_error *err)
{
    plim_text_reset(&self->sql);
    plim_text_append_format(&self->sql, "CREATE VIEW file.\"%s\" AS ", view->name);
    put_select(&self->sql, view->view);
    PLIM_TRY(plim_text_status(&self->sql, "writing a database", err));
    return calls_a_query(plim_text_string(&self->sql)) ? copy_table(self, view, err)
                                                       : run_text(self, err);
}

/* --- the file --- */

static plim_status copy_all(copying *self, plim_error *err)
{
    PLIM_TRY(run(self, "BEGIN", err));
    for (size_t i = 0; i < plim_query_table_count(); i++) {
        const plim_query_table *const table = plim_query_table_at(i);
        if (is_of_a_moment(table)) {
            continue;
        }
        PLIM_TRY(table->view != NULL ? copy_view(self, table, err) : copy_table(self, table, err));
    }
    return run(self, "COMMIT", err);
}

/* The connection's own database is in memory, and so would be what it attaches: a URI alone can say
 * that a file is meant. */
static void put_uri(plim_text *out, const char *path)
{
    plim_text_append_string(out, "file:");
    for (; *path != '\0'; path++) {
        if (plim_is_letter(*path) || plim_is_digit(*path) || *path == '/') {
            plim_text_append_char(out, *path);
        } else {
            plim_text_append_format(out, "%%%02x", (unsigned char)*path);
        }
    }
    plim_text_append_string(out, "?mode=rw");
}

/* A file that stands under another name until it is whole needs no journal that survives us. */
static plim_status attach(copying *self, const char *path, plim_error *err)
{
    sqlite3_stmt *statement = NULL;
    plim_text_reset(&self->sql);
    put_uri(&self->sql, path);
    PLIM_TRY(plim_text_status(&self->sql, "writing a database", err));
    int code = sqlite3_prepare_v2(self->db, "ATTACH ?1 AS file", -1, &statement, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_bind_text(statement, 1, plim_text_string(&self->sql), -1, SQLITE_STATIC);
    }
    if (code == SQLITE_OK) {
        (void)sqlite3_step(statement);
        code = sqlite3_reset(statement);
    }
    (void)sqlite3_finalize(statement);
    if (code != SQLITE_OK) {
        return fail_sqlite(self, code, err);
    }
    char pragmas[192];
    (void)snprintf(pragmas, sizeof pragmas,
                   "PRAGMA file.journal_mode = MEMORY; PRAGMA file.synchronous = OFF; "
                   "PRAGMA file.application_id = %d; PRAGMA file.user_version = %d",
                   APPLICATION_ID, SCHEMA_VERSION);
    return run(self, pragmas, err);
}

plim_status plim_export_sqlite(plim_export_job *job, const char *path, plim_error *err)
{
    copying self = { 0 };
    const plim_query_options options = { .mem = job->mem };
    PLIM_TRY(plim_query_open_unguarded(job->history, &options, &self.query, err));
    self.db = plim_query_database(self.query);
    plim_text_init(&self.sql, job->mem, SQL_BYTES_MAX);
    plim_status status = attach(&self, path, err);
    if (status == PLIM_OK) {
        status = copy_all(&self, err);
    }
    plim_text_deinit(&self.sql);
    plim_query_close(self.query);
    return status;
}
