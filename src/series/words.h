/*
 * words.h - what the words before a number say of it.
 */
#ifndef PLIMSOLL_SERIES_WORDS_H
#define PLIMSOLL_SERIES_WORDS_H

#include "series/number.h"

/* Each is a set of words; the table is in series_words.c. */
enum {
    PLIM_WORD_MEMORY = 1 << 0,       /* enough alone: memory, vram, rss */
    PLIM_WORD_HOLD = 1 << 1,         /* with a unit or beside memory: allocated, reserved */
    PLIM_WORD_AMOUNT = 1 << 2,       /* only beside memory: used, total, peak */
    PLIM_WORD_DEVICE = 1 << 3,       /* with a unit beside the number: GPU */
    PLIM_WORD_PEAK = 1 << 4,         /* of what was, not what is */
    PLIM_WORD_RESERVED = 1 << 5,     /* held from the driver */
    PLIM_WORD_HOST = 1 << 6,         /* not the device's */
    PLIM_WORD_FREE = 1 << 7,         /* not in use */
    PLIM_WORD_TOTAL = 1 << 8,        /* of the device, as long as it does not move */
    PLIM_WORD_NEVER = 1 << 9,        /* then it is no memory at all: disk, tokens, count */
    PLIM_WORD_STEP = 1 << 10,        /* counts steps: step, iteration */
    PLIM_WORD_EPOCH = 1 << 11,       /* counts rounds of steps */
    PLIM_WORD_GLOBAL = 1 << 12,      /* of steps: over all epochs */
    PLIM_WORD_NO_STEP = 1 << 13,     /* not counted steps after all: per, time, size */
    PLIM_WORD_IDENTITY = 1 << 14,    /* the number after it says whose: rank, GPU, pid */
    PLIM_WORD_USED = 1 << 15,        /* in use: then a "total" is a sum, not what there is */
    PLIM_WORD_ACCELERATOR = 1 << 16, /* GPU, NPU: its RAM is not the host's */
    PLIM_WORD_BOUND = 1 << 17,       /* a total that is a bound even where it moves: limit */
    PLIM_WORD_SHARE = 1 << 18,       /* said of the figures around it, whose words go on */
};

typedef struct plim_series_words {
    uint32_t any;          /* the sets that some word is in */
    uint32_t last;         /* the sets that the last word is in */
    uint32_t count;        /* of words */
    const char *step_name; /* of the last word that counts steps, or NULL */
    plim_series_unit unit; /* that a word says; PLIM_UNIT_NONE */
} plim_series_words;

/** Words end at anything but letters, and where small letters are followed by a capital. */
plim_series_words plim_series_words_of(const char *line, plim_series_span text);

/* In the order in which series are shown. */
typedef enum plim_series_kind {
    PLIM_SERIES_USED,
    PLIM_SERIES_RESERVED,
    PLIM_SERIES_PEAK,
    PLIM_SERIES_PEAK_RESERVED,
    PLIM_SERIES_HOST,
    PLIM_SERIES_TOTAL,
    PLIM_SERIES_FREE,
} plim_series_kind;

/** Of the machine, not of a device. */
bool plim_series_is_host(uint32_t words);

/** A total of what there is, by all the words around a figure. */
bool plim_series_is_total(uint32_t words);

/** What a figure is, likewise. */
plim_series_kind plim_series_kind_of(uint32_t words);

/** A failure and no report: its figures are for others to read. */
bool plim_series_says_out_of_memory(const char *line, size_t length);

#endif
