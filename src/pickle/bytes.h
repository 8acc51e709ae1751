/*
 * bytes.h - little-endian numbers in a pickle, for the files that run opcodes.
 */
#ifndef PLIMSOLL_PICKLE_BYTES_H
#define PLIMSOLL_PICKLE_BYTES_H

#include "pickle/value.h"

static inline uint32_t plim_load_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* Eight bytes, of which the caller masks or shifts out those that are not the number's. */
static inline uint64_t plim_load_u64(const uint8_t *bytes)
{
    return plim_load_u32(bytes) | (uint64_t)plim_load_u32(bytes + 4) << 32;
}

/* An integer that fits a value whatever it is. */
static inline plim_value plim_small_int(int64_t integer)
{
    return (plim_value){ (uint64_t)integer << 3 | PLIM_TAG_INT };
}

/* Of 1 to 7 bytes after LONG1's length byte: such integers fit a value with its tag. */
static inline plim_value plim_short_long(const uint8_t *bytes, unsigned count)
{
    const unsigned unused = 64 - 8 * count;
    return plim_small_int((int64_t)(plim_load_u64(bytes) << unused) >> unused);
}

#endif
