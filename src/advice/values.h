/*
 * values.h - figures of a failed request by the names that fixes.txt uses in texts and conditions.
 *
 * Those of the request are named as in documents, without "_bytes": {requested}, {free}, {limit}.
 * The others are worked out here: docs/formats/fixes.md lists them.
 */
#ifndef PLIMSOLL_ADVICE_VALUES_H
#define PLIMSOLL_ADVICE_VALUES_H

#include "base/text.h"
#include "verdict/request.h"

#define PLIM_FIX_VALUE_UNKNOWN UINT64_MAX
#define PLIM_FIX_VALUE_NONE    SIZE_MAX

/* The index of the value whose name is the `bytes` at `name`, or PLIM_FIX_VALUE_NONE. */
size_t plim_fix_value_find(const char *name, size_t bytes);
/* The value, or PLIM_FIX_VALUE_UNKNOWN. */
uint64_t plim_fix_value_of(size_t value, const plim_failed_request *request,
                           const plim_judgement *judgement);
/* Appends a known value in its form: bytes as "6.00 GiB", a number, a share as "0.83". */
void plim_fix_value_write(plim_text *out, size_t value, uint64_t amount);

#endif
