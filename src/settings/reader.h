/*
 * reader.h - the words and signs of a settings string, and what is wrong with them.
 *
 * The reader stands at one token. White space is dropped wherever it is, within words too, as
 * PyTorch does; offsets still count it, so that an error points into the text as it was typed.
 */
#ifndef PLIMSOLL_SETTINGS_READER_H
#define PLIMSOLL_SETTINGS_READER_H

#include "plimsoll/settings.h"

#define PLIM_SETTINGS_WORD_BYTES 128

typedef struct plim_settings_token {
    char kind;                           /* ',' ':' '[' ']', 'w' for a word, 0 at the end */
    size_t offset;                       /* of its first character */
    size_t length;                       /* of a word: of `word`, but for one that is too long */
    char word[PLIM_SETTINGS_WORD_BYTES]; /* without white space, cut where it is longer */
} plim_settings_token;

typedef struct plim_settings_reader {
    const char *source; /* what a message begins with: "settings" or a variable's name */
    const char *text;
    const char *key; /* what the values that are read belong to; NULL between pairs */
    plim_error *err;
    size_t next; /* after the token */
    plim_settings_token token;
} plim_settings_reader;

/* At the first token. */
void plim_settings_reader_init(plim_settings_reader *reader, const char *source, const char *text,
                               plim_error *err);
void plim_settings_advance(plim_settings_reader *reader);
/* Over a token of one kind; anything else is an error. `after` says what stands before it. */
plim_status plim_settings_expect(plim_settings_reader *reader, char kind, const char *after);
/* True if a word stands here that is not cut and is this one. */
bool plim_settings_at_word(const plim_settings_reader *reader, const char *word);

/* Fails with "<source>: character <n>: <message>"; the offset is that of the token's
 * `index`th character. */
plim_status plim_settings_fail(const plim_settings_reader *reader, plim_status status, size_t index,
                               const char *format, ...) PLIM_PRINTF(4, 5);

/* The token in a message: 'word', cut and without control characters, or "the end". */
typedef struct plim_settings_quote {
    char text[64];
} plim_settings_quote;
plim_settings_quote plim_settings_quoted(const plim_settings_reader *reader);

/* --- values. Each function looks at the word, or fails and says what was expected --- */

/* Fails with "'Yes' is not True or False (expandable_segments)", at a character of the word. */
plim_status plim_settings_fail_word(const plim_settings_reader *reader, plim_status status,
                                    size_t index, const char *what);
/* A word stands here: `what` in "expected a value of max_split_size_mb, not ','". */
plim_status plim_settings_check_word(const plim_settings_reader *reader, const char *what,
                                     const char *of);
/* A word that is a value stands here, and is not cut. */
plim_status plim_settings_check_value(const plim_settings_reader *reader);
/* Digits only, below 2^64. The reader stays, so that a caller can still complain of the value. */
plim_status plim_settings_peek_whole(const plim_settings_reader *reader, uint64_t *ret_value);
/* A power of two up to `max`, or, where with_zero says so, 0: over it, or fails. `what` names it
 * in a message. */
plim_status plim_settings_read_power(plim_settings_reader *reader, const char *what, bool with_zero,
                                     uint64_t max, uint64_t *ret_value);

#endif
