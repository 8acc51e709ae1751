/*
 * values.h - the fields of a row of an RMM log as numbers.
 */
#ifndef PLIMSOLL_RMM_VALUES_H
#define PLIMSOLL_RMM_VALUES_H

#include "rmm/csv.h"

/* Hexadecimal, with 0x or without; "(nil)" and "" are 0. False: something else. */
bool plim_rmm_address(plim_csv_field field, uint64_t *ret_address);

/* Digits of a number below 2^64; False: something else. */
bool plim_rmm_bytes(plim_csv_field field, uint64_t *ret_bytes);

typedef enum plim_rmm_clock {
    PLIM_RMM_CLOCK_NONE,  /* not a time */
    PLIM_RMM_CLOCK_DAY,   /* since midnight: the log writes no date */
    PLIM_RMM_CLOCK_EPOCH, /* since 1970 */
} plim_rmm_clock;

/* 10:31:45.000123, 10:31:45:000123 (RMM before 0.20) or seconds since 1970 with a fraction. */
plim_rmm_clock plim_rmm_time(plim_csv_field field, int64_t *ret_us);

#endif
