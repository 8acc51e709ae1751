/*
 * categories.h - what each allocation of a device is for.
 */
#ifndef PLIMSOLL_PHASES_CATEGORIES_H
#define PLIMSOLL_PHASES_CATEGORIES_H

#include "history/timeline.h"
#include "plimsoll/phases.h"

typedef struct plim_categories {
    const plim_mem *mem;
    uint8_t *of;      /* plim_category, by id of the timeline */
    uint8_t *rule_of; /* plim_category_rule, likewise */
    uint64_t count;   /* ids */
} plim_categories;

/*
 * Sorts the allocations of a device. Categories the source itself names (plim_note.category) win;
 * else stacks and lifetimes decide. Linear in events and in frames of distinct stacks.
 * Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_categories_init(plim_categories *ret_categories, const plim_timeline *timeline,
                                 const plim_mem *mem, plim_error *err);
/* A zeroed one is allowed. */
void plim_categories_deinit(plim_categories *categories);

#endif
