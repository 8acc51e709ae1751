/*
 * database.h - a history as a database of SQLite: the connection, and what is worked out for it.
 *
 *   relation.h   what a table is
 *   module.c     tables as SQLite's virtual tables
 *   devices.h    what is worked out of each device, when a table first needs it
 */
#ifndef PLIMSOLL_QUERY_DATABASE_H
#define PLIMSOLL_QUERY_DATABASE_H

#include "base/text.h"
#include "inspect/device_view.h"
#include "plimsoll/diagnose.h"
#include "plimsoll/query.h"

#include <sqlite3.h>

/* The ids of a device's allocations in the order of a column of small numbers. */
typedef struct plim_key_order {
    uint32_t *ids;   /* by key, then by id; NULL until it is made */
    uint64_t *first; /* of each key, and the end: key_count + 1 */
    uint64_t id_count;
    uint64_t key_count;
} plim_key_order;

/* The columns of allocations that can be read in their order. */
typedef enum plim_key_column {
    PLIM_KEY_STACK, /* 0 for none, then stack + 1 */
    PLIM_KEY_CATEGORY,
    PLIM_KEY_STEP, /* of birth: 0 for none, then step + 1 */
    PLIM_KEY_COLUMNS
} plim_key_column;

typedef struct plim_step_figures {
    uint64_t start_bytes; /* requested bytes before its first event, */
    uint64_t peak_bytes;  /* the most after one of its events, */
    int64_t peak_event;   /* the first with as much, */
    uint64_t end_bytes;   /* and after its last */
} plim_step_figures;

typedef struct plim_query_device {
    const plim_device_history *history;
    bool has_view; /* the timeline and the grouper of: */
    plim_device_view view;
    bool has_categories; /* in it */
    bool has_steps;
    plim_key_order orders[PLIM_KEY_COLUMNS];
    plim_step_figures *step_figures;
} plim_query_device;

struct plim_query {
    const plim_mem *mem;
    const plim_history *history;
    sqlite3 *db;
    struct plim_relation_table *tables; /* of module.c */
    plim_query_device *devices;
    size_t device_count;

    /* Made when they are first needed: */
    plim_inspection *inspection;
    plim_diagnosis *diagnosis;
    uint32_t *labels;        /* by stack: frame + 2, 1 for none, 0 where it is not looked up */
    uint64_t *frames_before; /* by stack: frames of all stacks before it; and of all */
    plim_text scratch;       /* a text while it is put together */

    plim_error error; /* of a table that could not be read */
    double time_limit_seconds;
    uint64_t deadline_ns; /* 0: none */
    bool is_late;
    bool is_guarded;
    bool is_declaring;     /* SQLite takes a table's declaration for a change of its own */
    const char *forbidden; /* what the statement wanted to do */
    sqlite3_int64 heap_limit_before;
    bool has_heap_limit;
    uint64_t memory_limit_bytes;
};

/*
 * The same as plim_query_open(), with a connection that may do everything: for exports, which
 * attach a file and copy tables into it.
 */
plim_status plim_query_open_unguarded(const plim_history *history,
                                      const plim_query_options *options, plim_query **ret_query,
                                      plim_error *err);

/* The connection, the query's. */
static inline sqlite3 *plim_query_database(const plim_query *query)
{
    return query->db;
}

/* Registers the tables, the functions and the views: SQLite's status. */
int plim_query_add_tables(plim_query *query);
int plim_query_add_functions(plim_query *query);
int plim_query_add_views(plim_query *query);
/* After the connection is closed. */
void plim_query_forget_tables(plim_query *query);

/* Fills in `err` after a call of SQLite's on the query's connection failed. */
plim_status plim_query_fail(plim_query *query, int code, plim_error *err);

#endif
