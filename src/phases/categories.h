/*
 * categories.h - what each allocation of a device is for.
 */
#ifndef PLIMSOLL_PHASES_CATEGORIES_H
#define PLIMSOLL_PHASES_CATEGORIES_H

#include "history/start.h"
#include "plimsoll/phases.h"

typedef struct plim_categories {
    const plim_mem *mem;
    uint8_t *of_event; /* plim_category of the allocation an alloc event makes; OTHER elsewhere */
    uint64_t event_count;
    uint8_t *of_start; /* … of start->allocations */
    size_t start_count;
} plim_categories;

/*
 * Sorts the allocations of a device. Categories the source itself names (plim_note.category) win;
 * else stacks and lifetimes decide. Linear in events and in frames of distinct stacks.
 * Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_categories_init(plim_categories *ret_categories, const plim_history *history,
                                 const plim_device_history *device, const plim_start *start,
                                 const plim_mem *mem, plim_error *err);
/* A zeroed one is allowed. */
void plim_categories_deinit(plim_categories *categories);

#endif
