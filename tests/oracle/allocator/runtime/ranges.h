/*
 * ranges.h - address ranges that do not overlap, sorted by address, placed by first fit.
 *
 * The recorder's own: that it and plimsoll's `sim` place alike is what a golden record shows, so
 * the two share no code. Scripts hold hundreds of ranges, for which an array is enough. One thread;
 * without host memory the recorder ends.
 */
#ifndef ORACLE_RUNTIME_RANGES_H
#define ORACLE_RUNTIME_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct model_range {
    uint64_t base;
    uint64_t bytes;
    uint64_t handle; /* of a mapping */
} model_range;

/* All zero is an empty set. */
typedef struct model_ranges {
    model_range *items;
    size_t count;
    size_t capacity;
} model_ranges;

/* Addresses among which place() chooses. */
typedef struct model_window {
    uint64_t base;
    uint64_t bytes;
} model_window;

/* Adds `bytes` at the lowest free multiple of ORACLE_PAGE_BYTES; false: the window has no room. */
bool model_ranges_place(model_ranges *set, model_window window, uint64_t bytes, uint64_t *ret_base);
/* False: it overlaps one that is there. */
bool model_ranges_insert(model_ranges *set, model_range range);
/* Takes out the range that begins at `base`; false: none does. */
bool model_ranges_remove(model_ranges *set, uint64_t base, model_range *ret);

#endif
