/*
 * categories_lifetimes.h - what allocations are for where no stacks were recorded: how long they
 * live, against the steps.
 */
#ifndef PLIMSOLL_PHASES_CATEGORIES_LIFETIMES_H
#define PLIMSOLL_PHASES_CATEGORIES_LIFETIMES_H

#include "history/timeline.h"
#include "phases/passes.h"
#include "plimsoll/phases.h"

/*
 * Judges the allocations of events that are OTHER in `of`, which is by id. Linear in events.
 *
 *   before the first step, and kept for good     parameters
 *   in a step, freed in it, live at its peak     activations
 *   likewise, live only before or behind it      temporary
 *   made behind the peak, live when the optimizer begins     gradients
 */
void plim_categories_by_lifetimes(uint8_t *of, const plim_timeline *timeline,
                                  const plim_passes *passes, const plim_steps *steps);

#endif
