/*
 * explain_json.h - the document `explain/1`: everything that was found in texts, for programs.
 *
 * The promise and every member are in docs/formats/explain-json.md: members may be added, none
 * is removed or changes its meaning.
 */
#ifndef PLIMSOLL_REPORT_EXPLAIN_JSON_H
#define PLIMSOLL_REPORT_EXPLAIN_JSON_H

#include "base/sink.h"
#include "report/explain_page.h"

/**
 * Write the document, whatever the number of texts.
 *
 * returns  PLIM_IO when the sink refused
 */
PLIM_MUST_USE plim_status plim_explain_json_write(plim_sink sink, const plim_explained *files,
                                                  size_t count, plim_error *err);

#endif
