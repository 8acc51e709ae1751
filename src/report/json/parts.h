/*
 * parts.h - what documents share: their schema first, what their page says last, and the members
 * of a failed request and of a file that was not read.
 */
#ifndef PLIMSOLL_REPORT_JSON_PARTS_H
#define PLIMSOLL_REPORT_JSON_PARTS_H

#include "base/json_out.h"
#include "report/model/failure.h"
#include "report/model/page.h"

/** Begin a document with its "schema"; errors  those of plim_page_status(), and nothing is written
 */
PLIM_MUST_USE plim_status plim_document_begin(plim_json *json, plim_sink sink, const char *schema,
                                              const plim_page *page, plim_error *err);
/** End it with the member "says" (docs/formats/says-json.md); errors  PLIM_IO: the sink failed */
PLIM_MUST_USE plim_status plim_document_finish(plim_json *json, const plim_page *page,
                                               plim_error *err);

/** The members "verdict", "alternatives", "confidence", "certainty" and "why". */
void plim_json_verdict(plim_json *json, const plim_judgement *judgement, const char *why);
/** The same of a request, and "figures": those of it that are known. */
void plim_json_failure(plim_json *json, const plim_failure *failure);
/** The member "error": why a file was not read. */
void plim_json_error(plim_json *json, const plim_error *error);

#endif
