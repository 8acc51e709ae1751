/*
 * hints.h - which text might speak of memory at all, at memory speed.
 */
#ifndef PLIMSOLL_SERIES_HINTS_H
#define PLIMSOLL_SERIES_HINTS_H

#include <stddef.h>

/**
 * The place in a text where hints of memory begin: none stands before that place, and one within
 * the next 256 bytes. `length` without any.
 */
size_t plim_series_filter(const char *text, size_t length);

#endif
