/*
 * page_json.h - a document: its schema first, what its page says last.
 */
#ifndef PLIMSOLL_REPORT_JSON_PAGE_JSON_H
#define PLIMSOLL_REPORT_JSON_PAGE_JSON_H

#include "base/json_out.h"
#include "report/model/page.h"

/** Begin a document with its "schema"; errors  those of plim_page_status(), and nothing is written
 */
PLIM_MUST_USE plim_status plim_document_begin(plim_json *json, plim_sink sink, const char *schema,
                                              const plim_page *page, plim_error *err);

/** End it with the member "says" (docs/formats/says-json.md); errors  PLIM_IO: the sink failed */
PLIM_MUST_USE plim_status plim_document_finish(plim_json *json, const plim_page *page,
                                               plim_error *err);

#endif
