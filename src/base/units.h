/*
 * units.h - KiB, MiB, GiB and TiB in bytes: powers of two, as everywhere in Plimsoll; and
 * milliseconds and seconds in nanoseconds.
 */
#ifndef PLIMSOLL_BASE_UNITS_H
#define PLIMSOLL_BASE_UNITS_H

#include <stdint.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)
#define TIB ((uint64_t)1 << 40)

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

#endif
