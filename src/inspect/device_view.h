/*
 * device_view.h - one device of a history, worked out once: its timeline, what its allocations are
 * for, its steps, and names for its stacks. Diagnosis, comparison, queries and exports read it.
 */
#ifndef PLIMSOLL_INSPECT_DEVICE_VIEW_H
#define PLIMSOLL_INSPECT_DEVICE_VIEW_H

#include "history/timeline.h"
#include "inspect/groups.h"
#include "inspect/recorded_rule.h"
#include "phases/categories.h"
#include "plimsoll/inspect.h"
#include "plimsoll/phases.h"

typedef struct plim_device_view {
    const plim_mem *mem;
    const plim_history *history;
    const plim_device_history *device;
    plim_recorded_rule rule; /* the timeline points to it: a view stays where it was made */
    plim_timeline timeline;
    plim_categories categories; /* by id of the timeline */
    plim_steps steps;
    plim_grouper grouper;
} plim_device_view;

/* Linear in events. Errors: PLIM_OUT_OF_HOST_MEMORY, PLIM_LIMIT. After a failure
 * plim_device_view_deinit() is allowed. */
plim_status plim_device_view_init(plim_device_view *view, const plim_history *history,
                                  const plim_device_history *device, const plim_mem *mem,
                                  plim_error *err);
/* The same without categories and steps, which cost more than all the rest. */
plim_status plim_device_view_init_timeline(plim_device_view *view, const plim_history *history,
                                           const plim_device_history *device, const plim_mem *mem,
                                           plim_error *err);
/* A zeroed one is allowed. */
void plim_device_view_deinit(plim_device_view *view);

/*
 * The event after which a choice of moment holds, or PLIM_AT_START.
 *
 * errors  PLIM_INVALID_ARGUMENT: the device has no such event, step or failure; the message says
 * how many it has time    linear in events
 */
plim_status plim_device_view_moment(const plim_device_view *view, plim_moment_choice choice,
                                    int64_t *ret_event, plim_error *err);

/* The moment after an event, or PLIM_AT_START, without its groups. Linear in events. */
plim_moment plim_device_view_sums(const plim_device_view *view, int64_t event);
/* Of the sums that a cursor of the device had after an event. */
plim_moment plim_moment_of(const plim_running *running, const plim_events *events, int64_t event);

#endif
