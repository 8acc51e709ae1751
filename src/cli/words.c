/*
 * words.c - a command line in one string, split. See words.h.
 */
#include "cli/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Copies what stands between quotes; returns the closing one, or NULL. */
static const char *copy_quoted(const char *at, char **to)
{
    const char quote = *at++;
    for (; *at != '\0' && *at != quote; at++) {
        const bool is_escape = quote == '"' && *at == '\\' && (at[1] == '"' || at[1] == '\\');
        at += is_escape;
        *(*to)++ = *at;
    }
    return *at == quote ? at : NULL;
}

/* Copies one word, which begins at `at`; returns the place after it, or NULL. */
static const char *copy_word(const char *at, char *to)
{
    for (; *at != '\0' && isspace((unsigned char)*at) == 0; at++) {
        if (*at == '\'' || *at == '"') {
            at = copy_quoted(at, &to);
            if (at == NULL) {
                return NULL;
            }
        } else {
            at += *at == '\\' && at[1] != '\0';
            *to++ = *at;
        }
    }
    *to = '\0';
    return at;
}

char **plim_words_split(const char *line)
{
    const size_t length = strlen(line);
    char **words =
        calloc(length / 2 + 2, sizeof(*words)); /* each word but the last has a blank after it */
    size_t count = 0;
    for (const char *at = line; words != NULL; count++) {
        while (isspace((unsigned char)*at) != 0) {
            at++;
        }
        if (*at == '\0') {
            break;
        }
        words[count] = malloc(length + 1); /* never longer than the line */
        at = words[count] != NULL ? copy_word(at, words[count]) : NULL;
        if (at == NULL) {
            plim_words_free(words);
            words = NULL;
        }
    }
    return words;
}

void plim_words_free(char **words)
{
    for (char **word = words; word != NULL && *word != NULL; word++) {
        free(*word);
    }
    free((void *)words);
}
