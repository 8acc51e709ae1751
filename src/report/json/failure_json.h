/*
 * failure_json.h - a failed request in a document: the same members wherever there is one.
 */
#ifndef PLIMSOLL_REPORT_JSON_FAILURE_JSON_H
#define PLIMSOLL_REPORT_JSON_FAILURE_JSON_H

#include "base/json_out.h"
#include "report/model/failure.h"

/** The members "verdict", "alternatives", "confidence", "certainty" and "why". */
void plim_json_verdict(plim_json *json, const plim_judgement *judgement, const char *why);

/** The same of a request, and "figures": those of it that are known. */
void plim_json_failure(plim_json *json, const plim_failure *failure);

/** The member "error": why a file was not read. */
void plim_json_error(plim_json *json, const plim_error *error);

#endif
