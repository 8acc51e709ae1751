/*
 * settings_value.h - one value of a settings string: the word that a reader stands at.
 *
 * Each function steps over the word, or fails and says what was expected instead. Numbers are
 * read whole: what stands behind them is an error, where PyTorch drops it silently.
 */
#ifndef PLIMSOLL_ALLOC_SETTINGS_VALUE_H
#define PLIMSOLL_ALLOC_SETTINGS_VALUE_H

#include "alloc/settings_reader.h"

/* Exactly True or False. */
plim_status plim_settings_read_bool(plim_settings_reader *reader, bool *ret_value);
/* Digits only, for mebibytes: at least `mb_min`, as bytes; what does not fit is 2^64 - 2^20. */
plim_status plim_settings_read_mb(plim_settings_reader *reader, uint64_t mb_min,
                                  uint64_t *ret_bytes);
/* From 0 to 1; the ends belong to it where with_ends says so. */
plim_status plim_settings_read_fraction(plim_settings_reader *reader, bool with_ends,
                                        double *ret_value);
/* A power of two up to `max`, or, where with_zero says so, 0. `what` names it in a message. */
plim_status plim_settings_read_power(plim_settings_reader *reader, const char *what, bool with_zero,
                                     uint64_t max, uint64_t *ret_value);
plim_status plim_settings_read_backend(plim_settings_reader *reader, plim_backend *ret_backend);

/*
 * How much address space an expandable segment reserves: a positive number, of the device's
 * memory, or with G or g behind it, of GiB. PyTorch warns of anything else and goes on.
 *
 * returns  whether it is one; both results are untouched where it is not
 */
bool plim_settings_read_reserve(const char *word, double *ret_fraction, uint64_t *ret_bytes);

#endif
