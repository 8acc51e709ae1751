/*
 * scan_table.h - the phrases of a scan, arranged so that most of a text is never compared.
 *
 * Of each phrase a window of stride + 3 bytes is chosen, the one that ordinary text holds least
 * often. However a grid of one position in `stride` falls on an occurrence, one of the window's
 * `stride` grams (4 bytes) begins on it. So of a text only the grams on the grid are looked at,
 * each by itself, and a phrase cannot hide:
 *
 *   text     t r i e d t o a l l o c a t e 1 2 8 m i b o u t o f m e m o r y
 *   grid     ^     ^     ^     ^     ^     ^     ^     ^     ^     ^     ^
 *   window                                           [ o u t o f m ]  grams outo, utof, tofm
 *
 * A gram that is one of a window says how far before it phrases may begin, and these places are
 * marked. At marked places phrases are compared, and by their first bytes most are not even that.
 * So a byte of text costs a bounded time, however many phrases there are and whatever it is.
 */
#ifndef PLIMSOLL_OOMTEXT_SCAN_TABLE_H
#define PLIMSOLL_OOMTEXT_SCAN_TABLE_H

#include "oomtext/scan.h"

#include "base/arena.h"

#define PLIM_SCAN_GRAM_BYTES  4u
#define PLIM_SCAN_FILTER_BITS 16u /* 8 KiB: a quarter of a first-level cache */

/* One mark for each place of a text where a phrase may begin: place p is bit p + 64. */
#define PLIM_SCAN_MARK_WORDS(bytes) (((bytes) + 64) / 64 + 2)
#define PLIM_SCAN_MARK_FIRST        64u

typedef struct plim_scan_phrase plim_scan_phrase;
typedef struct plim_scan_gram plim_scan_gram;
typedef struct plim_scan_head plim_scan_head;

typedef struct plim_scan_table {
    size_t stride;
    size_t phrase_bytes_max;
    plim_scan_phrase *phrases; /* sorted, so that what one text can match lies together */
    size_t phrase_count;
    plim_scan_gram *grams; /* hashed; a power of two of places */
    size_t gram_mask;
    plim_scan_head *heads; /* likewise */
    size_t head_mask;
    uint32_t filter[((size_t)1 << PLIM_SCAN_FILTER_BITS) / 32]; /* is it any of the grams? */
} plim_scan_table;

/**
 * table   zeroed
 * arena   takes everything of it but the phrases' bytes, which are borrowed
 * errors  PLIM_INVALID_ARGUMENT, PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_scan_table_init(plim_scan_table *table, const char *const *phrases,
                                               size_t count, plim_arena *arena, plim_error *err);

/**
 * Mark where phrases may begin in a folded text.
 *
 * folded  followed by PLIM_SCAN_PHRASE_BYTES_MAX zeros
 * marks   PLIM_SCAN_MARK_WORDS(bytes), written all
 */
void plim_scan_table_mark(const plim_scan_table *table, const char *folded, size_t bytes,
                          uint64_t *marks);

/**
 * The phrases at a place of such a text, the shortest first, of equal ones the last.
 *
 * ret      their places in table->phrases, PLIM_SCAN_PHRASES_MAX at most
 * returns  how many
 */
size_t plim_scan_table_match(const plim_scan_table *table, const char *at, uint16_t *ret);

uint32_t plim_scan_table_phrase(const plim_scan_table *table, uint16_t place);
size_t plim_scan_table_phrase_bytes(const plim_scan_table *table, uint16_t place);

#endif
