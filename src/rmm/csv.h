/*
 * csv.h - the lines of a CSV file: its header by name, its rows by column.
 *
 * Separated by commas; fields may be quoted, CRLF ends lines as LF does. Nothing is copied: fields
 * point into the line.
 */
#ifndef PLIMSOLL_RMM_CSV_H
#define PLIMSOLL_RMM_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of a line, without quotes and the blanks around it; not zero-terminated. */
typedef struct plim_csv_field {
    const char *text;
    size_t bytes;
} plim_csv_field;

/* The columns that are read, in the order of their names in csv.c. */
typedef enum plim_csv_column {
    PLIM_CSV_TIME,
    PLIM_CSV_ACTION,
    PLIM_CSV_POINTER,
    PLIM_CSV_SIZE,
    PLIM_CSV_STREAM,
    PLIM_CSV_COLUMN_COUNT
} plim_csv_column;

#define PLIM_CSV_FIELDS_MAX 64u /* columns of a file; a log has six */

typedef struct plim_csv_header {
    uint8_t at[PLIM_CSV_COLUMN_COUNT]; /* the field's place + 1; 0: there is no such column */
    uint8_t fields;                    /* of the header */
} plim_csv_header;

/*
 * Reads a header line.
 *
 * returns  false where it has no Action, Pointer or Size: then this is no log of RMM
 */
bool plim_csv_read_header(const char *line, size_t bytes, plim_csv_header *ret_header);

/*
 * Cuts a row into the columns of a header; a column that the header lacks is left empty.
 *
 * returns  false where the row has fewer fields than the header needs for them
 */
bool plim_csv_read_row(const plim_csv_header *header, const char *line, size_t bytes,
                       plim_csv_field ret_fields[PLIM_CSV_COLUMN_COUNT]);

bool plim_csv_is(plim_csv_field field, const char *text);

#endif
