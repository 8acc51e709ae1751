/*
 * table.h - aligned columns: words to the left, numbers to the right.
 *
 * Cells are collected, then written at once, so that each column is as wide as its widest cell.
 * When the page is too narrow, gaps shrink, then paths, then words; numbers stay.
 */
#ifndef PLIMSOLL_REPORT_TABLE_H
#define PLIMSOLL_REPORT_TABLE_H

#include "report/term/line.h"

#define PLIM_TABLE_COLUMNS_MAX 12u
#define PLIM_TABLE_BYTES_MAX   ((size_t)64 << 20)

typedef struct plim_table_column {
    const char *title; /* borrowed */
    plim_align align;  /* numbers: to the right */
} plim_table_column;

typedef struct plim_table {
    const plim_table_column *columns; /* borrowed */
    uint32_t column_count;
    plim_text cells; /* each a tone, its text and a zero */
    size_t cell_count;
} plim_table;

/** columns  at most PLIM_TABLE_COLUMNS_MAX, borrowed like mem until plim_table_deinit() */
void plim_table_init(plim_table *table, const plim_mem *mem, const plim_table_column *columns,
                     uint32_t column_count);
void plim_table_deinit(plim_table *table);

/** Add the next cell, row by row. Zero bytes end it, whatever else is in it is cleaned later. */
void plim_table_add(plim_table *table, plim_tone tone, const char *text);
/** The same for what printf() makes of it, up to 511 bytes. */
void plim_table_format(plim_table *table, plim_tone tone, const char *format, ...)
    PLIM_PRINTF(3, 4);

/** Write titles and rows. The last row must be complete; out fails if the table did. */
void plim_table_write(const plim_table *table, plim_text *out, const plim_style *style,
                      uint32_t indent);

#endif
