/*
 * diff_parts.h - the parts of the page of a comparison. See diff.h.
 */
#ifndef PLIMSOLL_REPORT_MODEL_DIFF_PARTS_H
#define PLIMSOLL_REPORT_MODEL_DIFF_PARTS_H

#include "report/model/diff.h"
#include "report/model/diff_lines.h"

/* The part of the page about one device, while it is made. */
typedef struct plim_diff_part {
    plim_page *page;
    const plim_diff_view *view;
    const plim_diffed *diffed;
    const plim_diff_device *device;
    plim_diffed_rank rank; /* its figures */
    bool has_stacks;       /* both sides have them: groups can be compared */
} plim_diff_part;

/** The change that matters in a sentence or two, with its line of code. */
void plim_diff_answer(plim_diff_part *self);
/** Before, after and change of each figure. */
void plim_diff_figures(const plim_diff_part *self);
/** Growth and shrinkage by line of code, at the moments that differ; then by category. */
void plim_diff_groups(const plim_diff_part *self);
/** Gaps of the recordings, and conditions other than the code that differ. */
void plim_diff_conditions(const plim_diff_part *self);

/** The figure of a moment. */
plim_diff_figure_id plim_diff_figure_at(plim_diff_moment_kind kind);
/** The moment that a figure is taken at. */
plim_diff_moment_kind plim_diff_moment_of(plim_diff_figure_id figure);
/** The facts of a device of one side, or NULL. */
const plim_device_inspection *plim_diff_facts(const plim_diffed_side *side, int32_t device);
/** True if the groups of a moment say whose they are on both sides, as far as there are any. */
bool plim_diff_has_stacks(const plim_diff_moment *moment);
/** "+1.21 GiB", "-3.00 MiB", "0 B": as a cell. */
void plim_diff_change_cell(plim_page *page, int64_t change);

#endif
