/*
 * per_step.h - what stays of each step, by class of stacks: the slope of what is live at the ends
 * of steps.
 *
 *   bytes        ╭─╮    ╭─╮   last third: at least so much
 *          ╭─╮ ╭─╯ ╰─╮ ╭╯
 *   ───╮ ╭─╯ ╰─╯     ╰─╯
 *      ╰─╯                    first third: at most so much; below the last, or nothing stays
 *
 * The first and the last step are left out where five or more are there: programs begin and end in
 * them.
 */
#ifndef PLIMSOLL_DIFF_PER_STEP_H
#define PLIMSOLL_DIFF_PER_STEP_H

#include "diff/sums.h"

#define PLIM_DIFF_STEPS_MIN 3u /* of fewer the slope says nothing */

/* The last event that counts, of a device with PLIM_DIFF_STEPS_MIN or more steps. */
int64_t plim_diff_last_step_end(const plim_steps *steps);

/* Adds to sums, of each class that grows from step to step, its bytes and allocations a step.
 * Linear in events. False: no memory. */
bool plim_diff_sums_add_steps(plim_diff_sums *sums, plim_diff_side_kind side,
                              const plim_diff_calls *view);

#endif
