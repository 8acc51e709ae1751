/*
 * run.h - the page of `plimsoll run`: what it says under the output of a program that died of
 * memory, or was stopped for it.
 */
#ifndef PLIMSOLL_REPORT_MODEL_RUN_H
#define PLIMSOLL_REPORT_MODEL_RUN_H

#include "report/model/page.h"

#include "plimsoll/run.h"

/* The user's options. All zero is a valid default. */
typedef struct plim_run_view {
    bool all; /* every fix */
} plim_run_view;

/** False: the run was healthy, or died of something else, and there is nothing to say. */
bool plim_run_has_page(const plim_ran *ran);
void plim_run_page(plim_page *page, const plim_run_view *view, const plim_ran *ran);

#endif
