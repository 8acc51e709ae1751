/*
 * words.c - a command line in one string, split; and lists of numbers. See words.h.
 */
#include "cli/words.h"

#include <ctype.h>
#include <errno.h>
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

static bool read_number(const char **text, uint64_t *ret)
{
    char *end = NULL;
    errno = 0;
    *ret = isdigit((unsigned char)**text) != 0 ? strtoull(*text, &end, 10) : 0;
    if (end == NULL || errno != 0 || *ret == 0 || *ret > PLIM_REHEARSE_VALUE_MAX) {
        return false;
    }
    *text = end;
    return true;
}

/* The range after its first number: "..8", "..64+8", "..64*2". */
static bool read_range(const char **text, uint64_t from, uint64_t *values, size_t *count)
{
    uint64_t to = 0;
    uint64_t by = 1;
    char how = '+';
    *text += 2;
    if (!read_number(text, &to) || to < from) {
        return false;
    }
    if (**text == '+' || **text == '*') {
        how = **text;
        (*text)++;
        if (!read_number(text, &by) || (how == '*' && by < 2)) {
            return false;
        }
    }
    for (uint64_t value = from; value <= to; value = how == '+' ? value + by : value * by) {
        if (*count == PLIM_REHEARSE_TRIES_MAX) {
            return false;
        }
        values[(*count)++] = value;
    }
    return true;
}

bool plim_values_parse(const char *text, uint64_t *values, size_t *ret_count)
{
    *ret_count = 0;
    for (;;) {
        uint64_t value = 0;
        if (!read_number(&text, &value)) {
            return false;
        }
        if (strncmp(text, "..", 2) == 0) {
            if (!read_range(&text, value, values, ret_count)) {
                return false;
            }
        } else if (*ret_count < PLIM_REHEARSE_TRIES_MAX) {
            values[(*ret_count)++] = value;
        } else {
            return false;
        }
        if (*text != ',') {
            return *text == '\0';
        }
        text++;
    }
}
