/*
 * relation.h - what a table is: rows by number, in one part or in one for each device, and
 * functions that read a value of a row. module.c makes a virtual table of it.
 *
 *   part 0 (device 0)   row 0, 1, 2, …      a cursor is a part and a position in it;
 *   part 1 (device 1)   row 0, 1, 2, …      nothing is copied
 */
#ifndef PLIMSOLL_QUERY_RELATION_H
#define PLIMSOLL_QUERY_RELATION_H

#include "query/devices.h"

#define PLIM_NO_COLUMN     (-1)
#define PLIM_RELATION_KEYS 4

typedef struct plim_relation_cursor plim_relation_cursor;

/* A column whose rows of one value are found without looking at the others. */
typedef struct plim_relation_key {
    int column;      /* PLIM_NO_COLUMN ends the list */
    bool is_grouped; /* rows can be read value by value, */
    bool is_sorted;  /* in the order of their values: integers, NULL first */
    double values;   /* about so many; 0: as many as the history has stacks */
} plim_relation_key;

typedef struct plim_relation {
    plim_query_table schema;
    bool is_by_device; /* a part for each device */
    int device;        /* the column with the device's index, or PLIM_NO_COLUMN */
    int number;        /* the column with the row's number in its part, or PLIM_NO_COLUMN */
    int number_first;  /* of row 0 */
    int parameter;     /* the column that names a moment, or PLIM_NO_COLUMN */
    plim_relation_key keys[PLIM_RELATION_KEYS];
    /* Rows of a part before anything is worked out, at most; a plan rests on it. */
    uint64_t (*estimate)(const plim_query *query, size_t part);
    /* Optional: works out what rows() and column() need. */
    plim_status (*prepare)(plim_query *query, size_t part, plim_error *err);
    uint64_t (*rows)(const plim_query *query, size_t part);
    /* Optional: false where the position has no row. */
    bool (*holds)(plim_relation_cursor *cursor);
    /*
     * With keys: narrows the part that the cursor stands in to the rows of one value, or, where
     * `value` is NULL, orders them by the column. May do neither: SQLite checks values again.
     */
    plim_status (*by_key)(plim_relation_cursor *cursor, int column, sqlite3_value *value,
                          plim_error *err);
    /* With a parameter: goes to that moment. PLIM_INVALID_ARGUMENT: the device has no such one. */
    plim_status (*at)(plim_relation_cursor *cursor, const char *moment, plim_error *err);
    void (*column)(plim_relation_cursor *cursor, int column, sqlite3_context *out);
} plim_relation;

struct plim_relation_cursor {
    sqlite3_vtab_cursor base; /* SQLite's */
    plim_query *query;
    const plim_relation *relation;
    size_t part;
    size_t part_end;
    uint64_t position; /* in the part: a row's number, or where `order` has it */
    uint64_t position_end;
    const uint32_t *order;
    uint64_t row;

    /* The wishes of a statement: */
    uint64_t row_first;
    uint64_t row_end;
    int key_column;
    sqlite3_value *key; /* NULL: by value, where there is a key_column */
    char *moment;       /* of the parameter, or NULL */
    bool found_moment;  /* some device has it */

    /* Of some tables: */
    int only_action;
    bool has_allocation; /* `allocation` is that of the row */
    plim_allocation allocation;
    plim_live live;
    plim_cursor figures;
    uint64_t summed_row; /* + 1; 0: none */
    plim_end_state sums;
};

/* All tables, in the order of docs/formats/query-tables.md; NULL ends them. */
extern const plim_relation *const plim_relations[];

extern const plim_relation plim_relation_devices;
extern const plim_relation plim_relation_events;
extern const plim_relation plim_relation_allocations;
extern const plim_relation plim_relation_live;
extern const plim_relation plim_relation_moments;
extern const plim_relation plim_relation_stacks;
extern const plim_relation plim_relation_frames;
extern const plim_relation plim_relation_segments;
extern const plim_relation plim_relation_blocks;
extern const plim_relation plim_relation_pools;
extern const plim_relation plim_relation_steps;
extern const plim_relation plim_relation_ooms;
extern const plim_relation plim_relation_findings;
extern const plim_relation plim_relation_categories;
extern const plim_relation plim_relation_settings;
extern const plim_relation plim_relation_annotations;
extern const plim_relation plim_relation_anomalies;
extern const plim_relation plim_relation_warnings;
extern const plim_relation plim_relation_source;

static inline plim_query_device *plim_cursor_device(const plim_relation_cursor *cursor)
{
    return &cursor->query->devices[cursor->part];
}

#endif
