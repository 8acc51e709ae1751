/*
 * values.h - whole numbers as a user lists them, for sweeps.
 */
#ifndef PLIMSOLL_CLI_VALUES_H
#define PLIMSOLL_CLI_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLIM_VALUES_MAX 256
#define PLIM_VALUE_MAX  (UINT64_C(1) << 30)

/*
 * "1,2,4", "1..8", "8..64+8", "1..64*2", and any of these with commas between.
 *
 * values   room for PLIM_VALUES_MAX
 * returns  false for what is none of these, has a number that is 0 or above PLIM_VALUE_MAX, or
 *          gives too many
 */
bool plim_values_parse(const char *text, uint64_t *values, size_t *ret_count);

#endif
