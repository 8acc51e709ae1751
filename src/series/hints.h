/*
 * hints.h - which text might speak of memory at all, at memory speed.
 */
#ifndef PLIMSOLL_SERIES_HINTS_H
#define PLIMSOLL_SERIES_HINTS_H

#include <stddef.h>

/**
 * Where the hints of memory begin in a text: none stands before that place, and one within the
 * next 256 bytes. `length` when there is none at all.
 */
size_t plim_series_filter(const char *text, size_t length);

#endif
