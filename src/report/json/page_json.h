/*
 * page_json.h - what a page says, as the last member of a document.
 */
#ifndef PLIMSOLL_REPORT_JSON_PAGE_JSON_H
#define PLIMSOLL_REPORT_JSON_PAGE_JSON_H

#include "base/json_out.h"
#include "report/model/page.h"

/** Write the member "says" of the object that is open (docs/formats/says-json.md). */
void plim_page_json(plim_json *json, const plim_page *page);

#endif
