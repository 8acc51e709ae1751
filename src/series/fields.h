/*
 * fields.h - the fields of a row: by a separator, or by blanks.
 */
#ifndef PLIMSOLL_SERIES_FIELDS_H
#define PLIMSOLL_SERIES_FIELDS_H

#include "series/table.h"

typedef struct plim_series_fields {
    plim_series_span items[PLIM_SERIES_TABLE_COLUMNS_MAX];
    uint32_t count; /* PLIM_SERIES_TABLE_COLUMNS_MAX + 1: more */
} plim_series_fields;

/** A field without blanks and quotes around it. */
plim_series_span plim_series_bare_field(const char *line, plim_series_span field);

/** The fields of a line, as the table separates them; count is count_max + 1 if there are more. */
void plim_series_split(const plim_series_table *table, const char *line, size_t length,
                       uint32_t count_max, plim_series_fields *ret);

/** The words of a line; is_wide: two blanks or more separate them. */
void plim_series_split_blanks(const char *line, size_t length, bool is_wide, uint32_t count_max,
                              plim_series_fields *ret);

#endif
