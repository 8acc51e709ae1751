/*
 * inspect_parts.h - the parts of the page of an inspection. See inspect.h.
 */
#ifndef PLIMSOLL_REPORT_MODEL_INSPECT_PARTS_H
#define PLIMSOLL_REPORT_MODEL_INSPECT_PARTS_H

#include "report/model/inspect.h"

/* Names beyond it are cut; lines are far shorter. */
#define PLIM_SCRATCH_BYTES_MAX ((size_t)1 << 20)

/* The share of reserved memory from which being unused is a loss worth a colour. */
#define PLIM_MUCH_UNUSED 0.25

/* A page while it is made. */
typedef struct plim_inspected {
    plim_page *page;
    const plim_inspect_view *view;
    const plim_inspect_file *file;
} plim_inspected;

void plim_inspected_device(const plim_inspected *self, const plim_device_inspection *device);
void plim_inspected_chart(const plim_inspected *self, const plim_device_inspection *device);
void plim_inspected_moments(const plim_inspected *self, const plim_device_inspection *device);
void plim_inspected_pools(const plim_inspected *self, const plim_device_inspection *device);
/** Categories at a moment, where the facts have them. */
void plim_inspected_categories(const plim_inspected *self, const plim_moment *moment,
                               const char *when);
/** In a sentence: how much is live at the end, and how much of it was never freed. */
void plim_inspected_end(const plim_inspected *self, const plim_device_inspection *device);
/** By stack: what the recording saw allocated and not freed. */
void plim_inspected_never_freed(const plim_inspected *self, const plim_device_inspection *device);
/** The moment's composition as bars, headed with `when`; nothing when nothing was reserved. */
void plim_inspected_parts(const plim_inspected *self, const plim_moment *moment, const char *when);
/** Stacks as bars of all of `moment`, whose groups they are, each with the events of its first and
 * last alloc. */
void plim_inspected_births(const plim_inspected *self, const plim_device_inspection *device,
                           const plim_moment *moment);
/** The share of `part` in `whole`; 0 of nothing. */
double plim_inspected_share(uint64_t part, uint64_t whole);
/** Several files of one run. */
void plim_inspected_ranks(const plim_inspected *self, const plim_inspect_file *files, size_t count);

/** "GPU 0", or "Pinned host memory"; in the page. */
const char *plim_device_name(plim_page *page, int32_t device);
/** The moment of --at in a sentence: "the peak", "step:7". */
const char *plim_inspected_at(const plim_inspected *self);
/** "event 2,233, 1.85 s", where `at` stands before the time since the device's first event. */
const char *plim_inspected_event(const plim_inspected *self, int32_t device, uint64_t event,
                                 int64_t time_us, const char *at);

/** Below the last row: one line, who called the line that speaks for a group; nothing without
 * callers. */
void plim_page_callers(plim_page *page, const plim_history *history, const plim_stack_group *group,
                       bool full);

#endif
