/*
 * hints.c - a few letters that every line with a figure of memory has.
 *
 * In any case: "mem", "llo" (allocated), "rss", "vr" (VRAM), "gb", "fb_" (frame buffer), "kv " and
 * "n u" (KV cache, token usage); and "iB", "MB", "kB" as they stand. Sixteen bytes are looked at at
 * once where the processor has such words, else eight, by arithmetic that is the same in every byte
 * of a word.
 */
#include "series/hints.h"

#include "base/cpu.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REACH 2u /* a hint has so many bytes after its first */

#if PLIM_HAS_X86_VECTORS

#include <emmintrin.h> /* SSE2: every x86-64 has it */

#define LANE_COUNT sizeof(__m128i)

static inline __m128i load(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline __m128i is(__m128i bytes, char byte)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte));
}

/* A bit for each of the sixteen bytes at which a hint begins. */
static inline unsigned hints(const char *at)
{
    const __m128i small = _mm_set1_epi8(32);
    const __m128i first = load(at);
    const __m128i second = load(at + 1);
    const __m128i a = _mm_or_si128(first, small); /* lower case */
    const __m128i b = _mm_or_si128(second, small);
    const __m128i c = _mm_or_si128(load(at + 2), small);
    const __m128i mem = _mm_and_si128(_mm_and_si128(is(a, 'm'), is(b, 'e')), is(c, 'm'));
    const __m128i llo = _mm_and_si128(_mm_and_si128(is(a, 'l'), is(b, 'l')), is(c, 'o'));
    const __m128i rss = _mm_and_si128(_mm_and_si128(is(a, 'r'), is(b, 's')), is(c, 's'));
    const __m128i vr = _mm_and_si128(is(a, 'v'), is(b, 'r'));
    const __m128i gb = _mm_and_si128(is(a, 'g'), is(b, 'b'));
    const __m128i fb = _mm_and_si128(_mm_and_si128(is(a, 'f'), is(b, 'b')), is(c, 0x7f));
    const __m128i kv = _mm_and_si128(_mm_and_si128(is(a, 'k'), is(b, 'v')), is(c, ' '));
    const __m128i usage = _mm_and_si128(_mm_and_si128(is(a, 'n'), is(b, ' ')), is(c, 'u'));
    const __m128i more = _mm_or_si128(_mm_or_si128(fb, kv), usage);
    const __m128i unit =
        _mm_and_si128(_mm_or_si128(_mm_or_si128(is(first, 'i'), is(first, 'M')), is(first, 'k')),
                      is(second, 'B'));
    return (unsigned)_mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(_mm_or_si128(mem, llo), _mm_or_si128(rss, vr)),
                     _mm_or_si128(_mm_or_si128(gb, unit), more)));
}

static inline bool has_hint(const char *at)
{
    return hints(at) != 0;
}

#else

#define LANE_COUNT   sizeof(uint64_t)

/* A byte in every lane. */
#define LANES(byte)  (UINT64_C(0x0101010101010101) * (unsigned char)(byte))
/* The high bit of some lane is set, if any lane is 0; of the lowest such lane surely. */
#define ZERO_LANE(x) (((x)-LANES(1)) & ~(x))

static uint64_t load(const char *at)
{
    uint64_t word = 0;
    memcpy(&word, at, sizeof word);
    return word;
}

/* True if one of the hints begins at one of the eight bytes. */
static inline bool has_hint(const char *at)
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
    const uint64_t kilo = (first ^ LANES('k')) | (second ^ LANES('B'));
    const uint64_t fb = (a ^ LANES('f')) | (b ^ LANES('b')) | (c ^ LANES(0x7f));
    const uint64_t kv = (a ^ LANES('k')) | (b ^ LANES('v')) | (c ^ LANES(' '));
    const uint64_t usage = (a ^ LANES('n')) | (b ^ LANES(' ')) | (c ^ LANES('u'));
    /* 'i' and 'M' differ in two bits: the four letters that this lets through do no harm. */
    const uint64_t unit = ((first ^ LANES('i')) & LANES(0xff ^ 'i' ^ 'M')) | (second ^ LANES('B'));
    const uint64_t any = ZERO_LANE(mem) | ZERO_LANE(llo) | ZERO_LANE(rss) | ZERO_LANE(vr) |
                         ZERO_LANE(gb) | ZERO_LANE(unit) | ZERO_LANE(fb) | ZERO_LANE(kilo) |
                         ZERO_LANE(kv) | ZERO_LANE(usage);
    return (any & LANES(0x80)) != 0;
}

#endif

size_t plim_series_filter(const char *text, size_t length)
{
    size_t at = 0;
    for (; length - at >= LANE_COUNT + REACH; at += LANE_COUNT) {
        if (has_hint(text + at)) {
            return at;
        }
    }
    /* The rest, with blanks after. */
    char rest[2 * LANE_COUNT + REACH];
    memset(rest, ' ', sizeof rest);
    memcpy(rest, text + at, length - at);
    return has_hint(rest) || has_hint(rest + LANE_COUNT) ? at : length;
}
