/*
 * driver_actions.h - events that are calls of the driver: memory that came from it, or went back.
 */
#ifndef PLIMSOLL_HISTORY_DRIVER_ACTIONS_H
#define PLIMSOLL_HISTORY_DRIVER_ACTIONS_H

#include "plimsoll/history.h"

/* segment_alloc, segment_map */
static inline bool plim_is_from_driver(uint8_t action)
{
    return action == PLIM_SEGMENT_ALLOC || action == PLIM_SEGMENT_MAP;
}

/* segment_free, segment_unmap */
static inline bool plim_is_to_driver(uint8_t action)
{
    return action == PLIM_SEGMENT_FREE || action == PLIM_SEGMENT_UNMAP;
}

static inline bool plim_is_driver_call(uint8_t action)
{
    return plim_is_from_driver(action) || plim_is_to_driver(action);
}

#endif
