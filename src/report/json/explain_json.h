/*
 * explain_json.h - the document `explain/1`: everything that was found in texts, for programs.
 *
 * The promise and every member are in docs/formats/explain-json.md: members may be added, none
 * is removed or changes its meaning.
 */
#ifndef PLIMSOLL_REPORT_JSON_EXPLAIN_JSON_H
#define PLIMSOLL_REPORT_JSON_EXPLAIN_JSON_H

#include "base/sink.h"
#include "report/model/explain.h"

/**
 * Write the document, whatever the number of texts.
 *
 * page     of plim_explain_page(): what it says
 * returns  PLIM_IO when the sink refused; as plim_page_status()
 */
PLIM_MUST_USE plim_status plim_explain_json_write(plim_sink sink, const plim_explained *files,
                                                  size_t count, const plim_page *page,
                                                  plim_error *err);

#endif
