/*
 * categories_start.h - what the allocations from before the first event are for.
 */
#ifndef PLIMSOLL_PHASES_CATEGORIES_START_H
#define PLIMSOLL_PHASES_CATEGORIES_START_H

#include "base/map.h"
#include "history/start.h"
#include "phases/passes.h"

/* How many gradients of each size one backward pass leaves: as many weights have that size. */
typedef struct plim_gradient_sizes {
    plim_map now;  /* size → backward pass << 32 | how many of it */
    plim_map most; /* size → the most of any pass */
} plim_gradient_sizes;

void plim_gradient_sizes_init(plim_gradient_sizes *sizes, const plim_mem *mem);
void plim_gradient_sizes_deinit(plim_gradient_sizes *sizes);
/* Counts a gradient of the backward pass that ends with an event. false: no memory. */
bool plim_gradient_sizes_take(plim_gradient_sizes *sizes, uint64_t bytes, uint32_t backward_end);

/* Judges all of start->allocations; uses up the sizes. false: no memory. */
bool plim_categories_of_start(uint8_t *of_start, const plim_start *start, const plim_passes *passes,
                              plim_gradient_sizes *gradients);

#endif
