/*
 * rehearse_json.h - the document `rehearse/1`: all that a rehearsal showed, for programs.
 *
 * The promise and every member are in docs/formats/rehearse-json.md.
 */
#ifndef PLIMSOLL_REPORT_JSON_REHEARSE_JSON_H
#define PLIMSOLL_REPORT_JSON_REHEARSE_JSON_H

#include "base/sink.h"
#include "report/model/rehearse.h"

/* page: what it says. PLIM_IO when the sink refused, or as plim_page_status(). */
PLIM_MUST_USE plim_status plim_rehearse_json_write(plim_sink sink, const plim_rehearsed *rehearsed,
                                                   const plim_page *page, plim_error *err);

/* The document of a search or a sweep. */
PLIM_MUST_USE plim_status plim_rehearse_json_write_tries(plim_sink sink,
                                                         const plim_rehearse_tries *tries,
                                                         const plim_page *page, plim_error *err);

#endif
