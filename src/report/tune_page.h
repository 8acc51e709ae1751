/*
 * tune_page.h - what `plimsoll tune` found, for its page and its document.
 */
#ifndef PLIMSOLL_REPORT_TUNE_PAGE_H
#define PLIMSOLL_REPORT_TUNE_PAGE_H

#include "report/replay_page.h"

#define PLIM_TUNE_TOP_DEFAULT 12u

typedef struct plim_tune_view {
    uint32_t top;    /* rows shown; 0: PLIM_TUNE_TOP_DEFAULT. The recorded settings and the
                      * caller's own are shown besides */
    double budget_s; /* that was given; 0: none */
} plim_tune_view;

/** A row of a search, as tables and documents take it. */
plim_replay_row plim_tune_row_of(const plim_tuning *tuning, size_t index);

#endif
