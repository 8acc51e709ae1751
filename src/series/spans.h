/*
 * spans.h - characters and pieces of a line, for those who read series out of it.
 *
 * ASCII only, whatever the locale; bytes above it are letters of some language.
 */
#ifndef PLIMSOLL_SERIES_SPANS_H
#define PLIMSOLL_SERIES_SPANS_H

#include "base/ascii.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a line: the first, and the one after the last. */
typedef struct plim_series_span {
    uint32_t at;
    uint32_t end;
} plim_series_span;

static inline bool plim_series_span_is_empty(plim_series_span span)
{
    return span.at >= span.end;
}

/* Letters of all scripts: what is beyond ASCII is taken for one. */
static inline bool plim_is_alphabetic(char c)
{
    return plim_is_letter(c) || (unsigned char)c >= 0x80;
}

/* The characters of names. */
static inline bool plim_is_name(char c)
{
    return plim_is_alphabetic(c) || plim_is_digit(c) || c == '_';
}

/* Control characters are blanks too: nothing that is printed. */
static inline bool plim_is_blank(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f;
}

/* True if a piece of a line is a word, in letters of any case; the word is in small ones. */
static inline bool plim_series_span_is_folded(const char *line, plim_series_span span,
                                              const char *word)
{
    uint32_t at = span.at;
    while (at < span.end && *word != '\0' && plim_lower(line[at]) == *word) {
        at++;
        word++;
    }
    return at == span.end && *word == '\0';
}

/* Without blanks around it. */
static inline plim_series_span plim_series_span_trim(const char *line, plim_series_span span)
{
    while (span.at < span.end && plim_is_blank(line[span.at])) {
        span.at++;
    }
    while (span.at < span.end && plim_is_blank(line[span.end - 1])) {
        span.end--;
    }
    return span;
}

#endif
