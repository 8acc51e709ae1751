/*
 * diff_part.h - a comparison as members of another document.
 */
#ifndef PLIMSOLL_REPORT_JSON_DIFF_PART_H
#define PLIMSOLL_REPORT_JSON_DIFF_PART_H

#include "base/json_out.h"
#include "base/text.h"

/** The members "before", "after" and "devices" of a pair: a text by plim_diff_json_part(), in an
 * object of an array of the document. */
void plim_json_diff_part(plim_json *json, const plim_text *part);

#endif
