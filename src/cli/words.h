/*
 * words.h - options that hold several words or numbers: a command line, split as a shell would but
 * without running anything, and the values of a sweep.
 */
#ifndef PLIMSOLL_CLI_WORDS_H
#define PLIMSOLL_CLI_WORDS_H

#include "plimsoll/rehearse.h"

/*
 * Blanks separate words; '…' keeps all as it is, "…" too but for \" and \\, and \ keeps the next
 * character. Nothing else is special: no variables, no patterns.
 *
 * returns  words and a NULL, for plim_words_free(); NULL when a quote is not closed, or no memory
 */
char **plim_words_split(const char *line);

/* NULL is allowed. */
void plim_words_free(char **words);

/**
 * "1,2,4", "1..8", "8..64+8", "1..64*2", and any of these with commas between.
 *
 * values   has room for PLIM_REHEARSE_TRIES_MAX
 * returns  false for other text, too many values, or one that is 0 or above PLIM_REHEARSE_VALUE_MAX
 */
bool plim_values_parse(const char *text, uint64_t *values, size_t *ret_count);

#endif
