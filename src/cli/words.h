/*
 * words.h - a command line in one string, split as a shell would, without running anything.
 */
#ifndef PLIMSOLL_CLI_WORDS_H
#define PLIMSOLL_CLI_WORDS_H

/*
 * Blanks separate words; '…' keeps all as it is, "…" too but for \" and \\, and \ keeps the next
 * character. Nothing else is special: no variables, no patterns.
 *
 * returns  words and a NULL, for plim_words_free(); NULL when a quote is not closed, or no memory
 */
char **plim_words_split(const char *line);

/* NULL is allowed. */
void plim_words_free(char **words);

#endif
