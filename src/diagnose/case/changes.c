/*
 * changes.c - see changes.h.
 */
#include "diagnose/case/changes.h"

static uint64_t bytes_of(const plim_timeline *timeline, uint64_t id)
{
    if (id == PLIM_NO_ALLOCATION) {
        return 0;
    }
    const int64_t born = plim_live_change_born(timeline, id);
    return born == PLIM_AT_START ? plim_timeline_allocation(timeline, id).requested_bytes
                                 : timeline->device->events.bytes[born];
}

plim_live_change plim_live_change_of(const plim_timeline *timeline, uint64_t event)
{
    const uint8_t action = timeline->device->events.action[event];
    plim_live_change change = { .begun = PLIM_NO_ALLOCATION, .ended = PLIM_NO_ALLOCATION };
    if (action == PLIM_ALLOC) {
        change.begun = plim_timeline_recorded_id(timeline, event);
        change.begun_bytes = timeline->device->events.bytes[event];
        if (timeline->start.lifetimes.displacements.count > 0) {
            change.ended = plim_timeline_displaced(timeline, event);
            /* It may also have displaced a block whose free was only pending. */
            if (change.ended != PLIM_NO_ALLOCATION &&
                plim_timeline_allocation(timeline, change.ended).freed != (int64_t)event) {
                change.ended = PLIM_NO_ALLOCATION;
            }
        }
    } else if (plim_ends_allocation(plim_timeline_halves(timeline), action)) {
        change.ended = plim_timeline_about(timeline, event);
    }
    change.ended_bytes = bytes_of(timeline, change.ended);
    return change;
}
