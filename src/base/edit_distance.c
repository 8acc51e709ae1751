/*
 * edit_distance.c - the edit distance, a row of its table at a time.
 */
#include "base/edit_distance.h"

#include "base/ascii.h"
#include "base/numbers.h"

#include <string.h>

size_t plim_edit_distance(const char *word, const char *name)
{
    /* Distances of the word so far to every start of the name. */
    size_t row[PLIM_EDIT_DISTANCE_CHARS_MAX + 1];
    const size_t length = plim_min(strlen(name), PLIM_EDIT_DISTANCE_CHARS_MAX);
    for (size_t j = 0; j <= length; j++) {
        row[j] = j;
    }
    for (size_t i = 0; word[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= length; j++) {
            const size_t replaced = diagonal + (plim_lower(word[i]) != plim_lower(name[j - 1]));
            diagonal = row[j];
            row[j] = plim_min(replaced, plim_min(row[j], row[j - 1]) + 1);
        }
    }
    return row[length];
}
