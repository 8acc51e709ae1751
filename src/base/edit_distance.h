/*
 * edit_distance.h - how far a mistyped word is from a name, for suggestions.
 */
#ifndef PLIMSOLL_BASE_EDIT_DISTANCE_H
#define PLIMSOLL_BASE_EDIT_DISTANCE_H

#include <stddef.h>

#define PLIM_EDIT_DISTANCE_CHARS_MAX 63

/*
 * Characters to insert, remove or replace to make one text of the other: the edit distance
 * (Wagner, Fischer 1974), upper and lower case being the same. Of `name` only the first
 * PLIM_EDIT_DISTANCE_CHARS_MAX characters are looked at.
 */
size_t plim_edit_distance(const char *word, const char *name);

#endif
