/*
 * trace_facts.h - what can be said of a trace without following memory: its actions, its clock,
 * and whether it is all there.
 */
#ifndef PLIMSOLL_INSPECT_TRACE_FACTS_H
#define PLIMSOLL_INSPECT_TRACE_FACTS_H

#include "base/arena.h"
#include "history/lifetimes.h"
#include "plimsoll/inspect.h"

/*
 * Fills in what concerns events alone: events, actions, times, events_without_stack; and counts
 * clocks that step back and events after the last oom. Actions live in `arena`.
 * ret_ooms: how many oom events there are. Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_trace_facts_of(const plim_history *history, const plim_device_history *device,
                                plim_arena *arena, plim_device_inspection *facts,
                                uint64_t anomalies[PLIM_ANOMALY_COUNT], plim_error *err);

/*
 * Fills in truncated, truncated_because and late_start, from the evidence: facts->events and
 * facts->start_live_count are filled in already. Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_judge_truncation(const plim_history *history, const plim_device_history *device,
                                  plim_free_halves halves, plim_arena *arena,
                                  plim_device_inspection *facts, plim_error *err);

#endif
