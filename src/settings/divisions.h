/*
 * divisions.h - roundup_power2_divisions, read and written.
 */
#ifndef PLIMSOLL_SETTINGS_DIVISIONS_H
#define PLIMSOLL_SETTINGS_DIVISIONS_H

#include "settings/reader.h"

/* A number for all intervals, or a list, which leaves what it does not name. The entries are
 * changed even when it fails. */
plim_status plim_settings_read_divisions(plim_settings_reader *reader,
                                         uint64_t divisions[PLIM_ROUNDUP_INTERVALS]);

/* A power of two up to `max`, or, where with_zero says so, 0: over it, or fails. `what` names it
 * in a message. In parse.c. */
plim_status plim_settings_read_power(plim_settings_reader *reader, const char *what, bool with_zero,
                                     uint64_t max, uint64_t *ret_value);

#define PLIM_DIVISIONS_TEXT_BYTES 512 /* 16 times "32768:9223372036854775808," are 416 */

/* The value that gives these, from a start of zeros; `text` has PLIM_DIVISIONS_TEXT_BYTES. */
void plim_settings_format_divisions(const uint64_t divisions[PLIM_ROUNDUP_INTERVALS], char *text);

#endif
