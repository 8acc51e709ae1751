/*
 * phrase_set.c - adding to a set of phrases.
 */
#include "oomtext/phrase_set.h"

#include "base/assert.h"
#include "oomtext/scan.h"
#include "oomtext/table.h"

#include <string.h>

void plim_phrase_set_init(plim_phrase_set *set)
{
    set->count = 0;
    memset(set->buckets, 0xff, sizeof set->buckets);
}

uint16_t plim_phrase_set_add(plim_phrase_set *set, plim_arena *arena, const char *phrase)
{
    char folded[PLIM_PHRASE_TEXT_BYTES];
    const size_t length = plim_scan_fold(phrase, strlen(phrase), folded);
    PLIM_ASSERT(length >= 2);
    uint16_t *link = &set->buckets[plim_phrase_bucket(folded[0], folded[1])];
    for (; *link != PLIM_PHRASE_NONE; link = &set->phrases[*link].next) {
        const plim_folded *const there = &set->phrases[*link];
        if (there->length == length && memcmp(there->bytes, folded, length) == 0) {
            return *link;
        }
    }
    const char *copy = plim_arena_copy(arena, folded, length);
    if (copy == NULL) {
        return PLIM_PHRASE_NONE;
    }
    PLIM_ASSERT(set->count < PLIM_PHRASES_MAX);
    set->phrases[set->count] = (plim_folded){ copy, (uint16_t)length, PLIM_PHRASE_NONE };
    *link = (uint16_t)set->count; /* last: buckets keep the order of the file */
    return (uint16_t)set->count++;
}
