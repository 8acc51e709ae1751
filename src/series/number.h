/*
 * number.h - the numbers of a line, and the units beside them.
 */
#ifndef PLIMSOLL_SERIES_NUMBER_H
#define PLIMSOLL_SERIES_NUMBER_H

#include "series/spans.h"
#include "series/vocabulary.h"

/* 12, 12.5, 1e-05, and 1,234.5 where a unit follows; signs are not part of it. */
size_t plim_series_numbers(const char *line, size_t length, plim_series_span *ret,
                           size_t count_max);

/** The end of the number that begins with the digit at `at`, with commas in it or without. */
uint32_t plim_series_number_end(const char *line, size_t length, size_t at, bool with_commas);

/** Digits only. */
bool plim_series_number_is_whole(const char *line, plim_series_span number);

/** The value, finite; false if a character does not belong to a number. */
bool plim_series_number_read(const char *line, plim_series_span number, double *ret);

typedef struct plim_series_unit {
    int8_t log2;
    plim_series_span text;
} plim_series_unit;

/** The unit of a word: "MiB", "gb", "gigabytes"; log2 or PLIM_UNIT_NONE. */
int8_t plim_series_unit_of(const char *word, size_t length);

/** The unit that stands after a number. Its text ends where other things begin. */
plim_series_unit plim_series_unit_after(const char *line, size_t length, plim_series_span number);

#endif
