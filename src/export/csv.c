/*
 * csv.c - a table of plimsoll query as comma-separated values: a line of names, then the rows.
 */
#include "export/export.h"

#include "base/error.h"
#include "base/fixed_text.h"

#include "plimsoll/query.h"

#include <stdio.h>
#include <string.h>

#define TABLE_DEFAULT "allocations"

/* The table of this name, or NULL with a line that names them all. */
static const plim_query_table *find_table(const char *name, plim_error *err)
{
    char names[PLIM_ERROR_MESSAGE_BYTES];
    plim_fixed_text out = plim_fixed_text_begin(names, sizeof names);
    for (size_t i = 0; i < plim_query_table_count(); i++) {
        const plim_query_table *const table = plim_query_table_at(i);
        if (strcmp(table->name, name) == 0) {
            return table;
        }
        if (table->view == NULL) {
            plim_fixed_text_put(&out, "%s%s", i > 0 ? ", " : "", table->name);
        }
    }
    (void)plim_fail(err, PLIM_INVALID_ARGUMENT, "there is no table \"%.40s\", but %s, and views",
                    name, names);
    return NULL;
}

static plim_status write_table(plim_query *query, const plim_query_table *table, plim_sink sink,
                               plim_error *err)
{
    char sql[128];
    const int bytes = snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", table->name);
    plim_query_csv csv = { .write = sink.write, .ctx = sink.ctx };
    const plim_query_reader reader = plim_query_csv_reader(&csv);
    const plim_status status = plim_query_run(query, sql, (size_t)bytes, &reader, err);
    return csv.failed ? PLIM_OK : status; /* a failed sink is found at the end */
}

plim_status plim_export_csv(plim_export_job *job, plim_sink sink, plim_error *err)
{
    const char *const name = job->options->table != NULL ? job->options->table : TABLE_DEFAULT;
    const plim_query_table *const table = find_table(name, err);
    if (table == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    const plim_query_options options = { .mem = job->mem };
    plim_query *query = NULL;
    PLIM_TRY(plim_query_open(job->history, &options, &query, err));
    const plim_status status = write_table(query, table, sink, err);
    plim_query_close(query);
    return status;
}
