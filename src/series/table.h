/*
 * table.h - CSV files and tables: a header names the columns, rows have the figures.
 */
#ifndef PLIMSOLL_SERIES_TABLE_H
#define PLIMSOLL_SERIES_TABLE_H

#include "series/plan.h"

#define PLIM_SERIES_TABLE_COLUMNS_MAX 128u /* of a header; wider ones are no tables */
#define PLIM_SERIES_TABLE_FIGURES_MAX PLIM_SERIES_FIGURES_MAX /* columns that are read */
#define PLIM_SERIES_TABLE_WHO_MAX     3u
#define PLIM_SERIES_TABLE_HEADER_MAX  256u

typedef struct plim_series_table_column {
    uint32_t index;
    uint32_t unit_length; /* text of the unit that the header says */
    char unit[12];
    plim_series_heading heading;
} plim_series_table_column;

typedef struct plim_series_table {
    char separator; /* ',', ';', a tab, ' ' for columns of blanks; '\0': there is no table */
    bool is_wide;   /* of blanks: two or more of them part columns, one does not */
    bool is_tool; /* a header of [columns] in vocabulary.tsv, or with a '#': rows may have texts */
    bool is_marked;  /* its header begins with '#': one of units may follow */
    bool is_lasting; /* its header comes again below a heading: lines between rows do not end it */
    bool has_rows;
    char header[PLIM_SERIES_TABLE_HEADER_MAX];
    uint32_t header_length; /* 0: longer */
    uint32_t column_count;
    plim_series_table_column figures[PLIM_SERIES_TABLE_FIGURES_MAX];
    uint32_t figure_count;
    uint32_t step_column;
    const char *step_name; /* NULL: none */
    uint32_t time_column;  /* UINT32_MAX: none is called so */
    uint32_t key_column;   /* of the metric's name, which each row has; UINT32_MAX: none */
    struct {
        uint32_t index;
        char word[16];
    } whose[PLIM_SERIES_TABLE_WHO_MAX]; /* columns that say who: gpu, rank */
    uint32_t who_count;
    bool has_device; /* one of them says which device */
    uint32_t missed; /* lines since the last row */
    uint32_t serial; /* counts tables */
} plim_series_table;

/** Split a line at the table's separator; returns the fields, bare, at most count_max + 1. */
uint32_t plim_series_table_split(const plim_series_table *table, const char *line, size_t length,
                                 uint32_t count_max, plim_series_span *ret);

/** A column that says whose figures a row has. */
void plim_series_table_add_who(plim_series_table *table, const char *word, uint32_t index);

/** A column without a header: "column 2". `says` are PLIM_WORD_ bits. */
void plim_series_table_add_bare(plim_series_table *table, uint32_t index, uint32_t says);

/** True if a line is the header of a table with memory in it, which is followed from now on. */
bool plim_series_table_begin(plim_series_table *table, const plim_series_line *line);

/**
 * The plan of a line, if it is a row; after too many other lines the table is over.
 *
 * line    its numbers are found here, and `table` is set if it is a row
 * errors  PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_series_table_row(plim_series_table *table,
                                                plim_series_tracks *tracks, plim_series_line *line,
                                                uint64_t row, plim_series_plan *ret,
                                                plim_error *err);

#endif
