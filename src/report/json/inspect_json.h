/*
 * inspect_json.h - the document `inspect/1`: everything an inspection knows, for programs.
 *
 * The promise and every member are in docs/formats/inspect-json.md: members may be added, none
 * is removed or changes its meaning.
 */
#ifndef PLIMSOLL_REPORT_JSON_INSPECT_JSON_H
#define PLIMSOLL_REPORT_JSON_INSPECT_JSON_H

#include "base/sink.h"
#include "report/model/inspect.h"

/**
 * Write the document.
 *
 * view     only its device counts: a document is never cut
 * page     of plim_inspect_page(): what it says, as it would be drawn; gives the memory too
 * returns  PLIM_IO when the sink refused, PLIM_OUT_OF_HOST_MEMORY (before anything is written)
 */
PLIM_MUST_USE plim_status plim_inspect_json_write(plim_sink sink, const plim_inspect_view *view,
                                                  const plim_inspect_file *files, size_t count,
                                                  const plim_page *page, plim_error *err);

#endif
