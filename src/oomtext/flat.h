/*
 * flat.h - a stretch of text without what logs do to it.
 *
 * Messages arrive wrapped at any column, quoted, coloured, escaped as JSON, with a prefix before
 * each line. The flat form keeps the letters, lower case, digits and punctuation; blanks, line
 * ends, quotes, colours, escapes and repeated prefixes are left out and only remembered as gaps:
 *
 *   "[rank0]: Tried to allo\n[rank0]: cate 2.00 MiB."  becomes
 *   full   triedtoallocate2.00mib.       with gaps before t, a, c, 2, m
 *   words  the same without the punctuation: what phrases are compared with
 *
 * Every character knows where it stands in the stretch, and on which line.
 */
#ifndef PLIMSOLL_OOMTEXT_FLAT_H
#define PLIMSOLL_OOMTEXT_FLAT_H

#include "base/ascii.h"
#include "base/memory.h"

#define PLIM_FLAT_BYTES_MAX ((size_t)24 << 10) /* of a stretch */

enum {
    PLIM_GAP_BLANK = 1, /* blanks stood here */
    PLIM_GAP_LINE = 2,  /* a line end, real or escaped */
    PLIM_GAP_OTHER = 4, /* quotes and such */
};

typedef struct plim_flat {
    char *full;
    uint8_t *gap;   /* PLIM_GAP_ bits: what was left out before the character */
    uint16_t *line; /* from 0, the first of the stretch */
    uint32_t *at;   /* offset in the stretch */
    uint32_t *read; /* how much stands before it, with one blank for each gap */
    size_t count;
    char *words;
    uint32_t *word_at; /* index into full */
    size_t word_count;
    const char *text; /* the stretch itself, borrowed */
    size_t text_bytes;
} plim_flat;

/* Of flat text: what `words` keeps. */
static inline bool plim_is_word_char(char c)
{
    return plim_is_lower(c) || plim_is_digit(c) || (unsigned char)c >= 0x80;
}

/* Room for one stretch at a time. False when there is no memory. */
bool plim_flat_init(plim_flat *flat, const plim_mem *mem);
void plim_flat_deinit(plim_flat *flat, const plim_mem *mem);

/**
 * Flatten a stretch. A line that begins like the one before it, digits apart, loses what they
 * share, if that looks like a log's prefix.
 *
 * bytes  at most PLIM_FLAT_BYTES_MAX
 * keep   keep_count offsets in the stretch, rising, of phrases that must not be lost that way
 */
void plim_flat_set(plim_flat *flat, const char *text, size_t bytes, const size_t *keep,
                   size_t keep_count);

/* The first word character at or after an offset of the stretch; word_count if none. */
size_t plim_flat_word_from(const plim_flat *flat, size_t offset);

/* Bytes from words[a] to words[b] as a reader counts them: without prefixes and colours. */
size_t plim_flat_distance(const plim_flat *flat, size_t a, size_t b);

/* The first word at least `distance` before words[w], and the first one that far after it. */
size_t plim_flat_word_before(const plim_flat *flat, size_t w, size_t distance);
size_t plim_flat_word_after(const plim_flat *flat, size_t w, size_t distance);

#endif
