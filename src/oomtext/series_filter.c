/*
 * series_filter.c - a few letters that every line with a figure of memory has.
 *
 * In any case: "mem", "llo" (allocated), "rss", "vr" (VRAM), "gb"; and "iB", "MB" as they stand.
 * Eight bytes are looked at at once, by arithmetic that is the same in every lane, so that
 * compilers make vectors of it: 4 GB/s.
 */
#include "oomtext/series_filter.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)256)
#define PART_BYTES  ((size_t)64)
#define LANE_COUNT  sizeof(uint64_t)
#define REACH       2u /* a block looks at so many bytes behind it */

/* A byte in every lane. */
#define LANES(byte) (UINT64_C(0x0101010101010101) * (unsigned char)(byte))
/* The high bit of some lane is set, if any lane is 0; of the lowest such lane surely. */
#define ZERO_LANE(x) (((x)-LANES(1)) & ~(x))

static uint64_t load(const char *at)
{
    uint64_t word = 0;
    memcpy(&word, at, sizeof word);
    return word;
}

/* High bits are set if one of the hints begins at one of the eight bytes. */
static inline uint64_t hints(const char *at)
{
    const uint64_t first = load(at);
    const uint64_t second = load(at + 1);
    const uint64_t a = first | LANES(32); /* lower case; nothing else becomes one of our letters */
    const uint64_t b = second | LANES(32);
    const uint64_t c = load(at + 2) | LANES(32);
    const uint64_t mem = (a ^ LANES('m')) | (b ^ LANES('e')) | (c ^ LANES('m'));
    const uint64_t llo = (a ^ LANES('l')) | (b ^ LANES('l')) | (c ^ LANES('o'));
    const uint64_t rss = (a ^ LANES('r')) | (b ^ LANES('s')) | (c ^ LANES('s'));
    const uint64_t vr = (a ^ LANES('v')) | (b ^ LANES('r'));
    const uint64_t gb = (a ^ LANES('g')) | (b ^ LANES('b'));
    /* 'i' and 'M' differ in two bits: the four letters that this lets through do no harm. */
    const uint64_t unit = ((first ^ LANES('i')) & LANES(0xff ^ 'i' ^ 'M')) | (second ^ LANES('B'));
    return ZERO_LANE(mem) | ZERO_LANE(llo) | ZERO_LANE(rss) | ZERO_LANE(vr) | ZERO_LANE(gb) |
           ZERO_LANE(unit);
}

/* Reads bytes + REACH; `bytes` is a constant and a multiple of eight. */
static inline bool has_hint(const char *text, size_t bytes)
{
    uint64_t any = 0;
    for (size_t i = 0; i < bytes; i += sizeof any) {
        any |= hints(text + i);
    }
    return (any & LANES(0x80)) != 0;
}

size_t plim_series_filter(const char *text, size_t length)
{
    size_t at = 0;
    while (length - at >= BLOCK_BYTES + REACH && !has_hint(text + at, BLOCK_BYTES)) {
        at += BLOCK_BYTES;
    }
    while (length - at >= PART_BYTES + REACH && !has_hint(text + at, PART_BYTES)) {
        at += PART_BYTES;
    }
    while (length - at >= LANE_COUNT + REACH && !has_hint(text + at, LANE_COUNT)) {
        at += LANE_COUNT;
    }
    if (length - at >= LANE_COUNT + REACH) {
        return at;
    }
    /* The rest, with blanks behind. */
    char rest[2 * LANE_COUNT + REACH];
    memset(rest, ' ', sizeof rest);
    memcpy(rest, text + at, length - at);
    return has_hint(rest, 2 * LANE_COUNT) ? at : length;
}
