/*
 * database.c - the connection: what statements may do, and how much they may take.
 */
#include "query/database.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/size.h"
#include "query/devices.h"

#include <string.h>

#define SCRATCH_BYTES_MAX ((size_t)64 << 20)
#define TICK_STEPS        4096 /* of SQLite's machine, between two looks at the clock */

/* Sizes of a statement and of what it makes: far above what people write, and all bounded. */
static const struct {
    int limit;
    int value;
} limits[] = {
    { SQLITE_LIMIT_LENGTH, 64 << 20 },
    { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
    { SQLITE_LIMIT_COLUMN, 500 },
    { SQLITE_LIMIT_EXPR_DEPTH, 200 },
    { SQLITE_LIMIT_COMPOUND_SELECT, 100 },
    { SQLITE_LIMIT_VDBE_OP, 1000000 },
    { SQLITE_LIMIT_FUNCTION_ARG, 100 },
    { SQLITE_LIMIT_ATTACHED, 0 },
    { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
    { SQLITE_LIMIT_VARIABLE_NUMBER, 1 },
    { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
    { SQLITE_LIMIT_WORKER_THREADS, 0 },
};

/* --- what a statement may do --- */

static const struct {
    int action;
    const char *word;
} forbidden[] = {
    { SQLITE_ATTACH, "ATTACH" },
    { SQLITE_DETACH, "DETACH" },
    { SQLITE_PRAGMA, "PRAGMA" },
    { SQLITE_INSERT, "INSERT" },
    { SQLITE_UPDATE, "UPDATE" },
    { SQLITE_DELETE, "DELETE" },
    { SQLITE_TRANSACTION, "a transaction" },
    { SQLITE_SAVEPOINT, "SAVEPOINT" },
    { SQLITE_ANALYZE, "ANALYZE" },
    { SQLITE_REINDEX, "REINDEX" },
    { SQLITE_ALTER_TABLE, "ALTER TABLE" },
    { SQLITE_DROP_TABLE, "DROP" },
    { SQLITE_DROP_VIEW, "DROP" },
    { SQLITE_CREATE_TABLE, "CREATE" },
    { SQLITE_CREATE_VIEW, "CREATE" },
    { SQLITE_CREATE_INDEX, "CREATE" },
    { SQLITE_CREATE_TRIGGER, "CREATE" },
    { SQLITE_CREATE_VTABLE, "CREATE" },
    { SQLITE_CREATE_TEMP_TABLE, "CREATE" },
    { SQLITE_CREATE_TEMP_VIEW, "CREATE" },
    { SQLITE_CREATE_TEMP_INDEX, "CREATE" },
    { SQLITE_CREATE_TEMP_TRIGGER, "CREATE" },
};

static bool may_call(const char *function)
{
    static const char *const not [] = { "load_extension", "fts3_tokenizer" };
    for (size_t i = 0; i < sizeof not / sizeof not [0]; i++) {
        if (sqlite3_stricmp(function, not [i]) == 0) {
            return false;
        }
    }
    return true;
}

static int authorize(void *ctx, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
    plim_query *const query = ctx;
    (void)first;
    (void)database;
    (void)trigger;
    if (!query->is_guarded || query->is_declaring || action == SQLITE_SELECT ||
        action == SQLITE_READ || action == SQLITE_RECURSIVE ||
        (action == SQLITE_FUNCTION && second != NULL && may_call(second))) {
        return SQLITE_OK;
    }
    query->forbidden = action == SQLITE_FUNCTION ? "that function" : "this statement";
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        if (forbidden[i].action == action) {
            query->forbidden = forbidden[i].word;
        }
    }
    return SQLITE_DENY;
}

static int is_late(void *ctx)
{
    plim_query *const query = ctx;
    query->is_late =
        query->deadline_ns != 0 && plim_clock_now_ns(&plim_clock_system) >= query->deadline_ns;
    return query->is_late;
}

/* --- failures --- */

plim_status plim_query_fail(plim_query *query, int code, plim_error *err)
{
    const int kind = code & 0xff;
    if (query->is_late) {
        return plim_fail(err, PLIM_LIMIT, "the statement was stopped after %s, the time limit",
                         plim_format_duration_us((uint64_t)(query->time_limit_seconds * 1e6)).text);
    }
    if (query->forbidden != NULL) {
        return plim_fail(err, PLIM_FORBIDDEN, "queries only read: %s is refused", query->forbidden);
    }
    if (query->error.status != PLIM_OK) {
        return plim_fail(err, query->error.status, "%s", query->error.message);
    }
    if (kind == SQLITE_NOMEM && query->has_heap_limit) { /* SQLite does not say which it was */
        return plim_fail(
            err, PLIM_LIMIT,
            "no memory is left for the statement: the limit is %s, unless the host has "
            "less; group or sort fewer rows",
            plim_format_bytes(query->memory_limit_bytes).text);
    }
    if (kind == SQLITE_NOMEM) {
        return plim_fail_memory(err, "running a statement");
    }
    const char *const message =
        query->db != NULL ? sqlite3_errmsg(query->db) : sqlite3_errstr(code);
    if (kind == SQLITE_TOOBIG) {
        return plim_fail(err, PLIM_LIMIT, "a text, a value or the statement is too long (%s)",
                         message);
    }
    const int place = query->db != NULL ? sqlite3_error_offset(query->db) : -1;
    return place >= 0 ? plim_fail_at(err, PLIM_INVALID_ARGUMENT, (uint64_t)place, "%s", message)
                      : plim_fail(err, PLIM_INVALID_ARGUMENT, "%s", message);
}

/* --- opening and closing --- */

static int open_database(plim_query *query)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    int code = sqlite3_open_v2(":memory:", &query->db,
                               query->is_guarded ? flags & ~SQLITE_OPEN_URI : flags, NULL);
    if (code != SQLITE_OK) {
        return code;
    }
    (void)sqlite3_extended_result_codes(query->db, 1);
    (void)sqlite3_db_config(query->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(query->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    code = sqlite3_exec(query->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
    code = code == SQLITE_OK ? plim_query_add_tables(query) : code;
    code = code == SQLITE_OK ? plim_query_add_functions(query) : code;
    return code == SQLITE_OK ? plim_query_add_views(query) : code;
}

static void guard(plim_query *query)
{
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        (void)sqlite3_limit(query->db, limits[i].limit, limits[i].value);
    }
    (void)sqlite3_set_authorizer(query->db, authorize, query);
    sqlite3_progress_handler(query->db, TICK_STEPS, is_late, query);
}

static plim_status make_devices(plim_query *query, plim_error *err)
{
    const size_t stacks = plim_history_stack_count(query->history);
    query->device_count = plim_history_device_count(query->history);
    query->labels =
        stacks > 0 ? plim_mem_alloc_zeroed(query->mem, stacks, sizeof *query->labels) : NULL;
    query->devices =
        query->device_count > 0
            ? plim_mem_alloc_zeroed(query->mem, query->device_count, sizeof *query->devices)
            : NULL;
    if ((stacks > 0 && query->labels == NULL) ||
        (query->device_count > 0 && query->devices == NULL)) {
        query->device_count = query->devices != NULL ? query->device_count : 0;
        return plim_fail_memory(err, "opening a query");
    }
    for (size_t i = 0; i < query->device_count; i++) {
        query->devices[i].history = plim_history_device(query->history, i);
    }
    return PLIM_OK;
}

static plim_status open_query(const plim_history *history, const plim_query_options *options,
                              bool is_guarded, plim_query **ret_query, plim_error *err)
{
    const plim_query_options chosen = options != NULL ? *options : (plim_query_options){ 0 };
    const plim_mem *const mem = plim_mem_or_heap(chosen.mem);
    plim_query *const query = plim_mem_alloc_zeroed(mem, 1, sizeof *query);
    if (query == NULL) {
        return plim_fail_memory(err, "opening a query");
    }
    *query = (plim_query){ .mem = mem,
                           .history = history,
                           .is_guarded = is_guarded,
                           .time_limit_seconds = chosen.time_limit_seconds };
    plim_text_init(&query->scratch, mem, SCRATCH_BYTES_MAX);
    plim_status status = make_devices(query, err);
    const int code = status == PLIM_OK ? open_database(query) : SQLITE_OK;
    if (code != SQLITE_OK) {
        status = plim_query_fail(query, code, err);
    }
    if (status != PLIM_OK) {
        plim_query_close(query);
        return status;
    }
    if (is_guarded) {
        guard(query);
    }
    if (chosen.memory_limit_bytes > 0) {
        query->memory_limit_bytes = chosen.memory_limit_bytes;
        query->heap_limit_before =
            sqlite3_hard_heap_limit64((sqlite3_int64)chosen.memory_limit_bytes);
        query->has_heap_limit = true;
    }
    *ret_query = query;
    return PLIM_OK;
}

plim_status plim_query_open(const plim_history *history, const plim_query_options *options,
                            plim_query **ret_query, plim_error *err)
{
    return open_query(history, options, true, ret_query, err);
}

plim_status plim_query_open_unguarded(const plim_history *history,
                                      const plim_query_options *options, plim_query **ret_query,
                                      plim_error *err)
{
    return open_query(history, options, false, ret_query, err);
}

void plim_query_close(plim_query *query)
{
    if (query == NULL) {
        return;
    }
    (void)sqlite3_close(query->db);
    if (query->has_heap_limit) {
        (void)sqlite3_hard_heap_limit64(query->heap_limit_before);
    }
    plim_query_forget(query);
    plim_query_forget_tables(query);
    const plim_mem *const mem = query->mem;
    plim_mem_free(mem, query->devices, query->device_count, sizeof *query->devices);
    plim_mem_free(mem, query, 1, sizeof *query);
}
