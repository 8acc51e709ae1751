/*
 * words.h - what the words before a number say of it.
 */
#ifndef PLIMSOLL_SERIES_WORDS_H
#define PLIMSOLL_SERIES_WORDS_H

#include "series/number.h"
#include "series/vocabulary.h"

typedef struct plim_series_words {
    uint32_t any;          /* what one of the words says: PLIM_WORD_ bits */
    uint32_t last;         /* what the last one says */
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

/** The kind of a figure, likewise. */
plim_series_kind plim_series_kind_of(uint32_t words);

/** A failure and no report: its figures are for others to read. */
bool plim_series_says_out_of_memory(const char *line, size_t length);

#endif
