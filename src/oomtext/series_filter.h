/*
 * series_filter.h - which text might speak of memory at all, at memory speed.
 */
#ifndef PLIMSOLL_OOMTEXT_SERIES_FILTER_H
#define PLIMSOLL_OOMTEXT_SERIES_FILTER_H

#include <stddef.h>

/** Where the first hint of memory stands in a text; `length` when there is none. */
size_t plim_series_filter(const char *text, size_t length);

#endif
