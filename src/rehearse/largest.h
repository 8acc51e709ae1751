/*
 * largest.h - the search for the largest number with which a program fits, and commands with the
 * place of a number in them.
 */
#ifndef PLIMSOLL_REHEARSE_LARGEST_H
#define PLIMSOLL_REHEARSE_LARGEST_H

#include "base/arena.h"
#include "plimsoll/rehearse.h"

/* Zeroed, with the capacity set. A larger number is taken to need no less memory. */
typedef struct plim_largest {
    uint64_t capacity_bytes;
    uint64_t first; /* number to begin with, or to go on with once it is known; 0: none */
    uint64_t low;   /* fits; 0: nothing that was tried does */
    uint64_t high;  /* does not fit; 0: unknown */
    uint64_t low_bytes;
    uint64_t bytes_per_value; /* by the last two that fit; 0: unknown */
    size_t turn;
} plim_largest;

/* The number to try next. Where plim_largest_is_found() it has no meaning. */
uint64_t plim_largest_next(plim_largest *self);
/* The same for two rehearsals at a time: the second number is larger. Returns one or two. */
size_t plim_largest_next_pair(plim_largest *self, uint64_t ret[2]);
void plim_largest_learn(plim_largest *self, uint64_t value, uint64_t device_bytes, bool fits);
/* True if `low` fits and `low + 1` does not, or 1 does not. */
bool plim_largest_is_found(const plim_largest *self);
/* True if PLIM_REHEARSE_VALUE_MAX fits. */
bool plim_largest_is_unbounded(const plim_largest *self);

/* The command with a number in the places of {}; NULL: no memory. */
const char **plim_command_with(plim_arena *arena, const char *const *argv, uint64_t value);

#endif
