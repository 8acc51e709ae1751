/*
 * numbers.h - the numbers of a trace, exactly: a double has no room for nanoseconds since 1970.
 */
#ifndef PLIMSOLL_PROFILER_NUMBERS_H
#define PLIMSOLL_PROFILER_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Nanoseconds of a number of microseconds ("4550651516171.944"); digits after the third are
 * dropped. False: it has an exponent, or is beyond 2^63.
 */
bool plim_trace_ns(const char *text, size_t bytes, int64_t *ret_ns);

/* A whole number; false: it has a fraction or an exponent, or does not fit. */
bool plim_trace_integer(const char *text, size_t bytes, int64_t *ret_integer);

/* A whole number from 0 to 2^64 - 1. */
bool plim_trace_unsigned(const char *text, size_t bytes, uint64_t *ret_number);

#endif
