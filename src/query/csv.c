/*
 * csv.c - the rows of a statement as comma-separated values.
 */
#include "base/csv.h"
#include "plimsoll/query.h"

#include <string.h>

static plim_csv begin_line(const plim_query_csv *self)
{
    plim_csv csv;
    plim_csv_init(&csv, (plim_sink){ .write = self->write, .ctx = self->ctx });
    csv.failed = self->failed;
    return csv;
}

static bool end_line(plim_query_csv *self, plim_csv *csv)
{
    plim_csv_end_line(csv);
    self->failed = csv->failed;
    return !self->failed;
}

static bool write_names(void *ctx, const char *const *names, size_t count)
{
    plim_csv csv = begin_line(ctx);
    for (size_t i = 0; i < count; i++) {
        plim_csv_text(&csv, names[i], strlen(names[i]));
    }
    return end_line(ctx, &csv);
}

static void write_value(plim_csv *csv, const plim_query_value *value)
{
    switch (value->type) {
    case PLIM_QUERY_TYPE_INTEGER:
        plim_csv_i64(csv, value->integer);
        break;
    case PLIM_QUERY_TYPE_REAL:
        plim_csv_double(csv, value->real);
        break;
    case PLIM_QUERY_TYPE_TEXT:
        plim_csv_text(csv, value->data, value->bytes);
        break;
    case PLIM_QUERY_TYPE_BLOB:
        plim_csv_hex(csv, value->data, value->bytes);
        break;
    case PLIM_QUERY_TYPE_NULL:
    case PLIM_QUERY_TYPE_COUNT:
        plim_csv_null(csv);
        break;
    }
}

static bool write_values(void *ctx, const plim_query_value *values, size_t count)
{
    plim_csv csv = begin_line(ctx);
    for (size_t i = 0; i < count; i++) {
        write_value(&csv, &values[i]);
    }
    return end_line(ctx, &csv);
}

plim_query_reader plim_query_csv_reader(plim_query_csv *csv)
{
    return (plim_query_reader){ .begin = write_names, .row = write_values, .ctx = csv };
}
