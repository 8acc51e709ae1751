/*
 * categories_start.h - what the allocations from before the first event are for.
 */
#ifndef PLIMSOLL_PHASES_CATEGORIES_START_H
#define PLIMSOLL_PHASES_CATEGORIES_START_H

#include "base/map.h"
#include "history/timeline.h"
#include "phases/passes.h"

/*
 * How many allocations of each size one pass leaves: gradients of a backward pass, of which there
 * is one for each weight; states that one step of an optimizer makes and the next replaces.
 */
typedef struct plim_pass_sizes {
    plim_map now;  /* size → pass << 32 | how many of it */
    plim_map most; /* size → the most of any pass */
} plim_pass_sizes;

void plim_pass_sizes_init(plim_pass_sizes *sizes, const plim_mem *mem);
void plim_pass_sizes_deinit(plim_pass_sizes *sizes);
/* Counts one of the pass that ends with an event. false: no memory. */
bool plim_pass_sizes_take(plim_pass_sizes *sizes, uint64_t bytes, uint32_t pass_end);

/* The kind of pass an event lies in. */
plim_pass_kind plim_pass_kind_at(const plim_passes *passes, uint32_t event);

/* What was found of the events, for the start; judging uses it up. */
typedef struct plim_leftovers {
    plim_pass_sizes gradients;
    plim_pass_sizes replaced_states;
} plim_leftovers;

/* Judges what was live before the first event; `of` is by id. false: no memory. */
bool plim_categories_of_start(uint8_t *of, const plim_timeline *timeline, const plim_passes *passes,
                              plim_leftovers *left);

#endif
