/*
 * fold.c - folding text byte by byte, and sixteen bytes at once.
 *
 * Of sixteen bytes, comparisons find which are kept; each half is then brought together by one
 * shuffle, whose order a table has for every set of eight. Half the time of the whole search went
 * into folding byte by byte (docs/design/explain.md).
 */
#include "oomtext/fold.h"

#include "base/cpu.h"

#include <string.h>

#if PLIM_HAS_X86_VECTORS
#include <tmmintrin.h>
#endif

#define RUN4(b)  (b), (b) + 1, (b) + 2, (b) + 3
#define RUN16(b) RUN4(b), RUN4((b) + 4), RUN4((b) + 8), RUN4((b) + 12)
#define RUN26(b) RUN16(b), RUN4((b) + 16), RUN4((b) + 20), (b) + 24, (b) + 25
static const unsigned char folded_forms[256] = {
    ['0'] = RUN4('0'),
    RUN4('4'),
    '8',
    '9',
    ['A'] = RUN26('a'),
    ['a'] = RUN26('a'),
    [0x80] = RUN16(0x80),
    RUN16(0x90),
    RUN16(0xa0),
    RUN16(0xb0),
    RUN16(0xc0),
    RUN16(0xd0),
    RUN16(0xe0),
    RUN16(0xf0),
};

unsigned char plim_fold_byte(unsigned char byte)
{
    return folded_forms[byte];
}

void plim_fold_moves_fill(plim_fold_moves *moves)
{
    for (unsigned set = 0; set < 256; set++) {
        uint8_t count = 0;
        memset(moves->from[set], 0x80, sizeof moves->from[set]); /* 0x80: a zero comes out */
        for (uint8_t i = 0; i < 8; i++) {
            if ((set >> i & 1) != 0) {
                moves->from[set][count++] = i;
            }
        }
        moves->count[set] = count;
    }
}

/* Without a branch: what is dropped is written too, and overwritten by what follows. */
size_t plim_fold_plain(const plim_fold_moves *moves, const unsigned char *data, size_t bytes,
                       char *folded)
{
    (void)moves;
    size_t length = 0;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char form = folded_forms[data[i]];
        folded[length] = (char)form;
        length += form != 0;
    }
    return length;
}

#if PLIM_HAS_X86_VECTORS
/* Bytes from `first` on, `count` of them, are all ones; the rest zero. */
PLIM_TARGET_SSSE3 static inline __m128i in_run(__m128i bytes, char first, char count)
{
    const __m128i place = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(place, _mm_set1_epi8((char)(count - 1))), place);
}

PLIM_TARGET_SSSE3 static size_t fold_vectors(const plim_fold_moves *moves,
                                             const unsigned char *data, size_t bytes, char *folded)
{
    size_t length = 0;
    size_t i = 0;
    for (; bytes - i >= 16; i += 16) {
        __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(data + i));
        const __m128i upper = in_run(some, 'A', 26);
        some = _mm_add_epi8(some, _mm_and_si128(upper, _mm_set1_epi8('a' - 'A')));
        const __m128i kept = _mm_or_si128(in_run(some, 'a', 26), in_run(some, '0', 10));
        const unsigned set = (unsigned)_mm_movemask_epi8(_mm_or_si128(kept, some));
        const unsigned low = set & 0xff;
        const unsigned high = set >> 8;
        const __m128i low_order = _mm_loadl_epi64((const __m128i *)(const void *)moves->from[low]);
        const __m128i high_order =
            _mm_loadl_epi64((const __m128i *)(const void *)moves->from[high]);
        _mm_storel_epi64((__m128i *)(void *)(folded + length), _mm_shuffle_epi8(some, low_order));
        length += moves->count[low];
        _mm_storel_epi64((__m128i *)(void *)(folded + length),
                         _mm_shuffle_epi8(_mm_srli_si128(some, 8), high_order));
        length += moves->count[high];
    }
    return length + plim_fold_plain(moves, data + i, bytes - i, folded + length);
}
#endif

plim_fold_function *plim_fold_fastest(void)
{
#if PLIM_HAS_X86_VECTORS
    if (plim_cpu_has_ssse3()) {
        return fold_vectors;
    }
#endif
    return plim_fold_plain;
}
