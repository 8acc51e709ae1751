/*
 * module.c - relations as SQLite's virtual tables: opening, moving and reading a cursor.
 *
 * SQLite checks all values that a statement compares again, but for the name of a moment, so that
 * narrowing may be rough. plan.c decides what is narrowed.
 */
#include "query/plan.h"
#include "query/relation.h"

#include "base/error.h"

#include <string.h>

typedef struct plim_relation_table {
    plim_query *query;
    const plim_relation *relation;
} relation_table;

typedef struct relation_vtab {
    sqlite3_vtab base; /* SQLite's */
    relation_table of;
} relation_vtab;

/* Our memory ran out, not SQLite's. */
static int fail_memory(plim_query *query)
{
    (void)plim_fail_memory(&query->error, "reading a table");
    return SQLITE_NOMEM;
}

/* --- a table --- */

static void declare(plim_text *text, const plim_query_table *schema)
{
    static const char *const types[PLIM_QUERY_TYPE_COUNT] = { "", "INTEGER", "REAL", "TEXT",
                                                              "BLOB" };
    plim_text_append_string(text, "CREATE TABLE x(");
    for (size_t i = 0; i < schema->column_count; i++) {
        const plim_query_column *const column = &schema->columns[i];
        plim_text_append_format(text, "%s\"%s\" %s%s", i == 0 ? "" : ", ", column->name,
                                types[column->type], column->is_parameter ? " HIDDEN" : "");
    }
    plim_text_append_string(text, ")");
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                   sqlite3_vtab **ret_vtab, char **ret_message)
{
    const relation_table *const of = aux;
    plim_text text;
    (void)argc;
    (void)argv;
    (void)ret_message;
    plim_text_init(&text, of->query->mem, (size_t)1 << 16);
    declare(&text, &of->relation->schema);
    of->query->is_declaring = true;
    const int code = text.status == PLIM_OK ? sqlite3_declare_vtab(db, plim_text_string(&text))
                                            : fail_memory(of->query);
    of->query->is_declaring = false;
    plim_text_deinit(&text);
    if (code != SQLITE_OK) {
        return code;
    }
    relation_vtab *const vtab = plim_mem_alloc_zeroed(of->query->mem, 1, sizeof *vtab);
    if (vtab == NULL) {
        return fail_memory(of->query);
    }
    vtab->of = *of;
    *ret_vtab = &vtab->base;
    return sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
}

static int disconnect(sqlite3_vtab *base)
{
    relation_vtab *const vtab = (relation_vtab *)base;
    plim_mem_free(vtab->of.query->mem, vtab, 1, sizeof *vtab);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const relation_vtab *const vtab = (const relation_vtab *)base;
    return plim_plan_choose(vtab->of.query, vtab->of.relation, info);
}

/* --- a cursor --- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
    const relation_vtab *const vtab = (const relation_vtab *)base;
    plim_relation_cursor *const cursor =
        plim_mem_alloc_zeroed(vtab->of.query->mem, 1, sizeof *cursor);
    if (cursor == NULL) {
        return fail_memory(vtab->of.query);
    }
    cursor->query = vtab->of.query;
    cursor->relation = vtab->of.relation;
    *ret_cursor = &cursor->base;
    return SQLITE_OK;
}

static void forget_wishes(plim_relation_cursor *cursor)
{
    sqlite3_free(cursor->moment);
    sqlite3_value_free(cursor->key);
    cursor->moment = NULL;
    cursor->key = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    plim_relation_cursor *const cursor = (plim_relation_cursor *)base;
    forget_wishes(cursor);
    plim_mem_free(cursor->query->mem, cursor, 1, sizeof *cursor);
    return SQLITE_OK;
}

/* Hands an error to SQLite, and keeps it for plim_query_fail(). */
static int give_up(plim_relation_cursor *cursor, const plim_error *err)
{
    sqlite3_vtab *const vtab = cursor->base.pVtab;
    cursor->query->error = *err;
    sqlite3_free(vtab->zErrMsg);
    vtab->zErrMsg = sqlite3_mprintf("%s", err->message);
    cursor->part = cursor->part_end;
    return err->status == PLIM_OUT_OF_HOST_MEMORY ? SQLITE_NOMEM : SQLITE_ERROR;
}

/* Stands before the first row of the part. */
static plim_status enter(plim_relation_cursor *cursor, plim_error *err)
{
    const plim_relation *const relation = cursor->relation;
    if (relation->prepare != NULL) {
        PLIM_TRY(relation->prepare(cursor->query, cursor->part, err));
    }
    const uint64_t rows = relation->rows(cursor->query, cursor->part);
    cursor->order = NULL;
    cursor->has_allocation = false;
    cursor->summed_row = 0;
    cursor->position = cursor->row_first;
    cursor->position_end = rows < cursor->row_end ? rows : cursor->row_end;
    if (cursor->key_column != PLIM_NO_COLUMN) {
        PLIM_TRY(relation->by_key(cursor, cursor->key_column, cursor->key, err));
    }
    if (relation->at != NULL) {
        const plim_status status = relation->at(cursor, cursor->moment, err);
        if (status == PLIM_INVALID_ARGUMENT) {
            cursor->position = cursor->position_end;
            cursor->query->error = *err; /* unless another device has it: see settle() */
            return PLIM_OK;
        }
        cursor->found_moment = true;
        cursor->query->error.status = PLIM_OK;
        return status;
    }
    return PLIM_OK;
}

static bool find_row(plim_relation_cursor *cursor)
{
    bool (*const holds)(plim_relation_cursor *) = cursor->relation->holds;
    for (; cursor->position < cursor->position_end; cursor->position++) {
        cursor->row = cursor->order != NULL ? cursor->order[cursor->position] : cursor->position;
        cursor->has_allocation = false;
        if (holds == NULL || holds(cursor)) {
            return true;
        }
    }
    return false;
}

/* Goes to the next row from the position on, which may be in a later part. */
static int settle(plim_relation_cursor *cursor)
{
    plim_error err; /* written only by a failure: this runs for each row */
    while (!find_row(cursor)) {
        cursor->part++;
        if (cursor->part >= cursor->part_end) {
            const bool is_missed = cursor->relation->at != NULL && !cursor->found_moment;
            return is_missed && cursor->query->error.status != PLIM_OK
                       ? give_up(cursor, &cursor->query->error)
                       : SQLITE_OK;
        }
        if (enter(cursor, &err) != PLIM_OK) {
            return give_up(cursor, &err);
        }
    }
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *unused, int argc,
                  sqlite3_value **argv)
{
    plim_relation_cursor *const cursor = (plim_relation_cursor *)base;
    plim_error err = { 0 };
    (void)unused;
    (void)argc;
    forget_wishes(cursor);
    cursor->found_moment = false;
    cursor->query->error = (plim_error){ 0 };
    if (!plim_plan_take(cursor, plan, argv)) {
        return SQLITE_NOMEM;
    }
    if (cursor->part >= cursor->part_end) {
        return SQLITE_OK;
    }
    if (enter(cursor, &err) != PLIM_OK) {
        return give_up(cursor, &err);
    }
    return settle(cursor);
}

static int next(sqlite3_vtab_cursor *base)
{
    plim_relation_cursor *const cursor = (plim_relation_cursor *)base;
    cursor->position++;
    return settle(cursor);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const plim_relation_cursor *const cursor = (const plim_relation_cursor *)base;
    return cursor->part >= cursor->part_end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *out, int index)
{
    plim_relation_cursor *const cursor = (plim_relation_cursor *)base;
    cursor->relation->column(cursor, index, out);
    return SQLITE_OK;
}

/* The part and the row: the first 2^40 rows of a part differ. */
static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_id)
{
    const plim_relation_cursor *const cursor = (const plim_relation_cursor *)base;
    *ret_id = (sqlite3_int64)((uint64_t)cursor->part << 40 | cursor->row);
    return SQLITE_OK;
}

/* xCreate is NULL: the tables are there without CREATE VIRTUAL TABLE. */
static const sqlite3_module module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = column,
    .xRowid = row_id,
};

int plim_query_add_tables(plim_query *query)
{
    size_t count = 0;
    while (plim_relations[count] != NULL) {
        count++;
    }
    query->tables = plim_mem_alloc(query->mem, count, sizeof *query->tables);
    if (query->tables == NULL) {
        return fail_memory(query);
    }
    for (size_t i = 0; i < count; i++) {
        query->tables[i] = (relation_table){ .query = query, .relation = plim_relations[i] };
        const int code = sqlite3_create_module_v2(query->db, plim_relations[i]->schema.name,
                                                  &module, &query->tables[i], NULL);
        if (code != SQLITE_OK) {
            return code;
        }
    }
    return SQLITE_OK;
}

void plim_query_forget_tables(plim_query *query)
{
    size_t count = 0;
    while (plim_relations[count] != NULL) {
        count++;
    }
    plim_mem_free(query->mem, query->tables, query->tables != NULL ? count : 0,
                  sizeof *query->tables);
}
