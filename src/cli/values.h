/*
 * values.h - whole numbers as a user lists them, for sweeps.
 */
#ifndef PLIMSOLL_CLI_VALUES_H
#define PLIMSOLL_CLI_VALUES_H

#include "plimsoll/rehearse.h"

/**
 * "1,2,4", "1..8", "8..64+8", "1..64*2", and any of these with commas between.
 *
 * values   has room for PLIM_REHEARSE_TRIES_MAX
 * returns  false for other text, too many values, or one that is 0 or above PLIM_REHEARSE_VALUE_MAX
 */
bool plim_values_parse(const char *text, uint64_t *values, size_t *ret_count);

#endif
