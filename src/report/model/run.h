/*
 * run.h - the page of `plimsoll run`: what it says under the output of a program that died of
 * memory, was stopped for it, or grows.
 *
 *   run.c           which of these it was; the page
 *   run_verdict.c   the verdict, the request that failed, what to do
 *   run_holders.c   the objects that hold the memory
 *   run_ends.c      other endings: killed, caught, grown
 */
#ifndef PLIMSOLL_REPORT_MODEL_RUN_H
#define PLIMSOLL_REPORT_MODEL_RUN_H

#include "report/model/diagnose.h"
#include "report/model/replay.h"

#include "plimsoll/run.h"

/* The user's options. All zero is a valid default. */
typedef struct plim_run_view {
    bool all; /* every fix, every holder */
} plim_run_view;

/* Findings in the dump that answers for the run. All borrowed; NULL: nothing was found. */
typedef struct plim_run_found {
    plim_diagnosed *diagnosed; /* its snapshot */
    const plim_holders *holders;
    const plim_replay_input *replayed; /* with the search of settings: */
    const plim_tuning *tuning;
} plim_run_found;

/** False: the run was healthy, or died of something else, and there is nothing to say. */
bool plim_run_has_page(const plim_ran *ran);
/** True if the dump that answers for it is worth reading: it is on the page. */
bool plim_run_has_account(const plim_ran *ran);
void plim_run_page(plim_page *page, const plim_run_view *view, const plim_ran *ran,
                   const plim_run_found *found);

/** The device of the diagnosis that the dump is about: where the request failed, else the worst.
 * SIZE_MAX: nothing is diagnosed, or that says nothing of the failure. */
size_t plim_run_device(const plim_ran *ran, const plim_run_found *found);

#endif
