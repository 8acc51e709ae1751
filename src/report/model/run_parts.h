/*
 * run_parts.h - the parts of the page of a run. See run.h.
 */
#ifndef PLIMSOLL_REPORT_MODEL_RUN_PARTS_H
#define PLIMSOLL_REPORT_MODEL_RUN_PARTS_H

#include "report/model/run.h"

#define PLIM_RUN_FIXES_SHOWN   3u
#define PLIM_RUN_HOLDERS_SHOWN 5u

/* A page while it is made. */
typedef struct plim_ran_page {
    plim_page *page;
    const plim_run_view *view;
    const plim_ran *ran;
    const plim_run_found *found;
} plim_ran_page;

/** The verdict and its evidence, or the explanation of the error text; the request that failed;
 * which rank it was. */
void plim_run_verdict(const plim_ran_page *self);
/** The first fixes, one that was replayed before others; nothing where the verdict had its own. */
void plim_run_fixes(const plim_ran_page *self);
/** The objects that hold most, in a table. */
void plim_run_holders(const plim_ran_page *self);
/** The growth that the program did not die of. */
void plim_run_growth(const plim_ran_page *self);
/** Killed by the kernel or another: the last that is known. */
void plim_run_killed(const plim_ran_page *self);
/** Failures that the program caught, and an end by another error. */
void plim_run_caught(const plim_ran_page *self);

/** A failure that nothing caught, and that did not end the program: it ended a thread. */
void plim_run_uncaught(const plim_ran_page *self);

/** The dump of such a failure, or NULL. */
const plim_ran_dump *plim_run_find_uncaught(const plim_ran *ran);
/** True if SIGKILL ended it, for want of host memory or for another reason. */
bool plim_run_was_killed(const plim_ran *ran);
/** True if it failed otherwise, after requests that had failed and were caught. */
bool plim_run_has_caught(const plim_ran *ran);
bool plim_run_has_growth(const plim_ran *ran);

/** "/home/me/train.py:55 main" as "train.py:55 in main". */
plim_fact plim_ran_line(plim_page *page, const char *where);

#endif
