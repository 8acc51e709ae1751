/*
 * degree.h - techniques that come in degrees: "accumulate=8", "checkpoint=every:2".
 */
#ifndef PLIMSOLL_FIT_DEGREE_H
#define PLIMSOLL_FIT_DEGREE_H

#include <stdbool.h>

bool plim_fit_is_accumulation(const char *text);
/* True of a technique that sets how many rows go through at a time. */
bool plim_fit_decides_rows(const char *text);

/* Of a batch: 8; 1 where the technique is another. */
double plim_fit_pieces(const char *text);

/* The share of the blocks that it is for: 1/2; 1 for all, and where the technique is another. */
double plim_fit_blocks(const char *text);

#endif
