/*
 * vocabulary.h - vocabulary.tsv: what words of logs say; docs/formats/vocabulary.md.
 */
#ifndef PLIMSOLL_SERIES_VOCABULARY_H
#define PLIMSOLL_SERIES_VOCABULARY_H

#include "base/ascii.h"
#include "plimsoll/status.h"

#include <stddef.h>
#include <stdint.h>

/* The meanings of a word for the number beside it: X(bit, name in vocabulary.tsv, the bits that it
 * stands for).
 */
#define PLIM_SERIES_SAYS_LIST(X)                                                                   \
    X(MEMORY, "memory", 0)             /* enough alone: memory, vram, rss */                       \
    X(HOLD, "held", PLIM_WORD_USED)    /* with a unit or beside memory: allocated, reserved */     \
    X(AMOUNT, "amount", 0)             /* only beside memory: cached */                            \
    X(USED, "used", PLIM_WORD_AMOUNT)  /* in use: then a "total" is a sum, not what there is */    \
    X(NAMED_DEVICE, "named_device", 0) /* with a unit beside the number: RAM */                    \
    X(IDENTITY, "identity", 0)         /* the number after it says whose: rank, pid */             \
    X(ACCELERATOR, "device", PLIM_WORD_NAMED_DEVICE | PLIM_WORD_IDENTITY) /* GPU, NPU */           \
    X(NO_STEP, "no_step", 0) /* not counted steps after all: per, size */                          \
    X(PEAK, "peak", PLIM_WORD_AMOUNT | PLIM_WORD_NO_STEP)   /* of what was, not what is */         \
    X(RESERVED, "reserved", 0)                              /* held from the driver */             \
    X(HOST, "host", 0)                                      /* not the device's */                 \
    X(FREE, "free", PLIM_WORD_AMOUNT)                       /* not in use */                       \
    X(TOTAL, "total", PLIM_WORD_AMOUNT | PLIM_WORD_NO_STEP) /* of the device, while it is still */ \
    X(BOUND, "bound",                                                                              \
      PLIM_WORD_TOTAL | PLIM_WORD_AMOUNT | PLIM_WORD_NO_STEP) /* even moving: limit */             \
    X(NEVER, "never", PLIM_WORD_NO_STEP) /* then it is not memory at all: disk, tokens */          \
    X(SHARE, "share", PLIM_WORD_NEVER | PLIM_WORD_NO_STEP) /* of the figures around it */          \
    X(STEP, "step", 0)                                     /* counts steps: step, iteration */     \
    X(EPOCH, "epoch", 0)                                   /* counts rounds of steps */            \
    X(GLOBAL, "global", 0)                                 /* of steps: over all epochs */         \
    X(TIME, "time", PLIM_WORD_NEVER | PLIM_WORD_NO_STEP)   /* a time of the epoch may follow */    \
    X(PERCENT, "percent", 0)                               /* of what there is: in per cent */     \
    X(FRACTION, "fraction", PLIM_WORD_PERCENT)             /* in shares of 1 */                    \
    X(BARE, "bare", 0) /* without words: its size alone says the unit */

enum {
#define PLIM_SERIES_SAYS_INDEX(bit, name, more) PLIM_WORD_INDEX_##bit,
    PLIM_SERIES_SAYS_LIST(PLIM_SERIES_SAYS_INDEX)
#undef PLIM_SERIES_SAYS_INDEX
};
enum {
#define PLIM_SERIES_SAYS_BIT(bit, name, more) PLIM_WORD_##bit = 1 << PLIM_WORD_INDEX_##bit,
    PLIM_SERIES_SAYS_LIST(PLIM_SERIES_SAYS_BIT)
#undef PLIM_SERIES_SAYS_BIT
};

/* The unit of a number: 2^log2 bytes. */
#define PLIM_UNIT_NONE ((int8_t)-1) /* nothing is said */
#define PLIM_UNIT_ELSE ((int8_t)-2) /* not memory: a rate, a percentage, seconds, … */

#define PLIM_SERIES_WORD_BYTES  16u
#define PLIM_SERIES_KEY_BYTES   32u
#define PLIM_SERIES_WORDS_MAX   512u
#define PLIM_SERIES_UNITS_MAX   96u
#define PLIM_SERIES_KEYS_MAX    96u
#define PLIM_SERIES_COLUMNS_MAX 48u

_Static_assert(PLIM_SERIES_KEYS_MAX <= PLIM_SERIES_UNITS_MAX, "chains have room for both");

typedef struct plim_series_word {
    char text[PLIM_SERIES_WORD_BYTES]; /* zeros after it */
    uint32_t says;                     /* PLIM_WORD_ bits */
    int8_t log2;                       /* of a unit */
} plim_series_word;

typedef struct plim_series_key {
    char text[PLIM_SERIES_KEY_BYTES];
    uint32_t says;
    int8_t log2; /* of a column's figures without a unit, else PLIM_UNIT_NONE */
} plim_series_key;

/* The rows of a section that share a letter, in order: row + 1 each, 0 ends. Lines have many words,
 * and nearly all of them end here. */
typedef struct plim_series_chains {
    uint8_t first[128]; /* by the letter, small */
    uint8_t next[PLIM_SERIES_UNITS_MAX];
} plim_series_chains;

/** The first row + 1 with this letter, 0 for none; then chains->next[row]. */
static inline uint8_t plim_series_chain_of(const plim_series_chains *chains, char letter)
{
    const unsigned char small = (unsigned char)plim_lower(letter);
    return small >= 128 ? 0 : chains->first[plim_is_digit((char)small) ? '#' : small];
}

typedef struct plim_series_vocabulary {
    plim_series_word words[PLIM_SERIES_WORDS_MAX]; /* by the alphabet */
    size_t word_count;
    uint16_t words_from[129]; /* words before those that begin with a letter, by the letter */
    plim_series_word units[PLIM_SERIES_UNITS_MAX];
    size_t unit_count;
    plim_series_chains unit_chains; /* by the first letter */
    plim_series_key keys[PLIM_SERIES_KEYS_MAX];
    size_t key_count;
    plim_series_chains key_chains; /* by the last letter; digits and '#' are one */
    plim_series_key columns[PLIM_SERIES_COLUMNS_MAX];
    size_t column_count;
} plim_series_vocabulary;

/** Of vocabulary.tsv; read at the first call. threads: any */
const plim_series_vocabulary *plim_series_vocabulary_shared(void);

/** errors: PLIM_CORRUPT with the line */
PLIM_MUST_USE plim_status plim_series_vocabulary_read(const char *const *lines,
                                                      plim_series_vocabulary *ret, plim_error *err);

#endif
