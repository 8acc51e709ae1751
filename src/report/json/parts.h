/*
 * parts.h - what documents share: their schema first, what their page says last, and the members
 * of a failed request, of a file that was not read, of a stack and of a moment.
 */
#ifndef PLIMSOLL_REPORT_JSON_PARTS_H
#define PLIMSOLL_REPORT_JSON_PARTS_H

#include "base/json_out.h"
#include "base/text.h"
#include "report/model/failure.h"
#include "report/model/inspect.h"
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

/** A time of an event: null where it is not known. */
void plim_json_member_time(plim_json *json, const char *key, int64_t time_us);
/** A string of a history: any bytes, zeros too. */
void plim_json_history_string(plim_json *json, const plim_history *history, uint32_t string);
/** The member "frames" of a stack, innermost first. */
void plim_json_frames(plim_json *json, const plim_history *history, uint32_t stack);
/** The member "user_frame": which of the frames is the user's, or null. */
void plim_json_user_frame(plim_json *json, uint32_t user_frame);
/** The members that every moment has but its event, time and requested bytes. */
void plim_json_moment_figures(plim_json *json, const plim_moment *moment);

/** Values of an array that were written before, each with a zero after it. */
void plim_json_written_values(plim_json *json, const plim_text *values);

#endif
