/*
 * columns.h - a table's columns from one list, which gives their numbers and their descriptions.
 *
 * In a list: enumerator, name, type, meaning.
 */
#ifndef PLIMSOLL_QUERY_COLUMNS_H
#define PLIMSOLL_QUERY_COLUMNS_H

#define PLIM_COLUMN_ENUM(code, shown, kind, words) code,
#define PLIM_COLUMN_ROW(code, shown, kind, words) \
    { .name = (shown), .type = PLIM_QUERY_TYPE_##kind, .meaning = (words) },

#define PLIM_COLUMNS(list) .columns = (list), .column_count = sizeof(list) / sizeof(list)[0]

#define PLIM_NO_KEY              \
    {                            \
        .column = PLIM_NO_COLUMN \
    }

#endif
