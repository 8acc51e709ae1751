/*
 * phrase_set.h - folded phrases, each once, found by their first two characters.
 */
#ifndef PLIMSOLL_OOMTEXT_PHRASE_SET_H
#define PLIMSOLL_OOMTEXT_PHRASE_SET_H

#include "base/arena.h"

#define PLIM_PHRASES_MAX    1536u
#define PLIM_PHRASE_BUCKETS 1024u
#define PLIM_PHRASE_NONE    UINT16_MAX

typedef struct plim_folded {
    const char *bytes;
    uint16_t length;
    uint16_t next; /* of the same bucket */
} plim_folded;

typedef struct plim_phrase_set {
    plim_folded phrases[PLIM_PHRASES_MAX];
    size_t count;
    uint16_t buckets[PLIM_PHRASE_BUCKETS];
} plim_phrase_set;

void plim_phrase_set_init(plim_phrase_set *set);

/** The id of a phrase, which is folded first and new if there is none like it; PLIM_PHRASE_NONE
 * without memory. Ids count from 0. */
uint16_t plim_phrase_set_add(plim_phrase_set *set, plim_arena *arena, const char *phrase);

static inline size_t plim_phrase_bucket(char a, char b)
{
    return ((unsigned char)a * 31u + (unsigned char)b) % PLIM_PHRASE_BUCKETS;
}

/* Phrases that may begin with two characters: the first, then each one's `next`. */
static inline uint16_t plim_phrase_set_first(const plim_phrase_set *set, char a, char b)
{
    return set->buckets[plim_phrase_bucket(a, b)];
}

#endif
