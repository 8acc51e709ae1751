/*
 * rehearse_parts.h - members that the documents `rehearse/1` share: of a rehearsal, of a search, of
 * two environments. docs/formats/rehearse-json.md.
 */
#ifndef PLIMSOLL_REPORT_JSON_REHEARSE_PARTS_H
#define PLIMSOLL_REPORT_JSON_REHEARSE_PARTS_H

#include "base/json_out.h"
#include "report/model/rehearse.h"

void plim_json_strings(plim_json *json, const char *key, const char *const *items, size_t count);
void plim_json_rehearsed_gpu(plim_json *json, const plim_gpu *gpu, uint64_t capacity_bytes,
                             uint32_t count);
void plim_json_rehearsed_peak(plim_json *json, const plim_rehearsed_peak *peak);
void plim_json_rehearsed_bar(plim_json *json, const char *key, const plim_rehearsed_bar *bar);
/* Null where the rehearsal has an answer. */
void plim_json_rehearsed_reason(plim_json *json, const plim_rehearsed_reason *reason);
/* The need of a program that ran out; null where it was not asked. */
/** The member "with": techniques that were switched on from outside. */
void plim_json_with(plim_json *json, const plim_rehearsed_technique *techniques, size_t count);
void plim_json_rehearsed_need(plim_json *json, const plim_rehearsed_need *need);

#endif
