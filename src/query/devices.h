/*
 * devices.h - what is worked out for tables, each when it is first needed.
 *
 * All return PLIM_OK or fail with PLIM_OUT_OF_HOST_MEMORY or PLIM_LIMIT; what was made stays until
 * the query is closed.
 */
#ifndef PLIMSOLL_QUERY_DEVICES_H
#define PLIMSOLL_QUERY_DEVICES_H

#include "query/database.h"

/* The timeline of a device; and its categories, its steps. */
plim_status plim_query_need_view(plim_query *query, size_t device, plim_error *err);
plim_status plim_query_need_categories(plim_query *query, size_t device, plim_error *err);
plim_status plim_query_need_steps(plim_query *query, size_t device, plim_error *err);
plim_status plim_query_need_step_figures(plim_query *query, size_t device, plim_error *err);
plim_status plim_query_need_order(plim_query *query, size_t device, plim_key_column column,
                                  plim_error *err);
plim_status plim_query_need_frames(plim_query *query, plim_error *err);
plim_status plim_query_need_inspection(plim_query *query, plim_error *err);
plim_status plim_query_need_diagnosis(plim_query *query, plim_error *err);

/* The frame that speaks for a stack: an index into the history's frames, or PLIM_NONE. */
uint32_t plim_query_label(plim_query *query, uint32_t stack);

/*
 * The event after which a named moment of a device holds; NULL is the peak.
 * Errors: PLIM_INVALID_ARGUMENT: no such name, or the device has no such moment.
 */
plim_status plim_query_moment(plim_query *query, size_t device, const char *moment,
                              int64_t *ret_event, plim_error *err);

/* True if an id of a timeline is that of an allocation. */
bool plim_query_is_allocation(const plim_query_device *device, uint64_t id);

/* A device's facts, which the inspection has for each device of the history. */
const plim_device_inspection *plim_query_inspected(const plim_query *query, size_t device);
const plim_device_diagnosis *plim_query_diagnosed(const plim_query *query, size_t device);

/* Frees all of it. */
void plim_query_forget(plim_query *query);

#endif
