/*
 * query_json.h - the documents `query/1`, whose rows are written as they come, and
 * `query-schema/1`: docs/formats/query-json.md.
 */
#ifndef PLIMSOLL_REPORT_JSON_QUERY_JSON_H
#define PLIMSOLL_REPORT_JSON_QUERY_JSON_H

#include "base/json_out.h"
#include "report/model/page.h"
#include "report/model/query.h"

#define PLIM_QUERY_BLOB_BYTES_MAX ((size_t)1024) /* of a blob, that a document shows */

/* A document while it is written. The caller sets the first members. */
typedef struct plim_query_document {
    plim_sink sink;
    const plim_page *page; /* becomes "says" when the document is finished */
    const char *file;
    const char *sql;
    size_t sql_bytes;
    plim_json json;
    bool has_begun;
    uint64_t row_count;
} plim_query_document;

/* A reader that writes the document, which begins with the first call. */
plim_query_reader plim_query_document_reader(plim_query_document *document);

/* Ends it, where it has begun. why  the statement failed, or NULL; errors  PLIM_IO */
PLIM_MUST_USE plim_status plim_query_document_finish(plim_query_document *document,
                                                     const plim_error *why, plim_error *err);

/* All tables, views and functions. */
PLIM_MUST_USE plim_status plim_query_schema_json_write(plim_sink sink, const plim_page *page,
                                                       plim_error *err);

#endif
