/*
 * nearness.c - the edit distance, a row of its table at a time.
 */
#include "base/nearness.h"

#include "base/numbers.h"

#include <string.h>

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

size_t plim_nearness_distance(const char *word, const char *name)
{
    /* Distances of the word so far to every start of the name. */
    size_t row[PLIM_NEARNESS_LENGTH_MAX + 1];
    const size_t length = plim_min(strlen(name), PLIM_NEARNESS_LENGTH_MAX);
    for (size_t j = 0; j <= length; j++) {
        row[j] = j;
    }
    for (size_t i = 0; word[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= length; j++) {
            const size_t replaced = diagonal + (lower(word[i]) != lower(name[j - 1]));
            diagonal = row[j];
            row[j] = plim_min(replaced, plim_min(row[j], row[j - 1]) + 1);
        }
    }
    return row[length];
}
