/*
 * fit_parts.h - parts of the page of `plimsoll fit`, for the files that make it.
 */
#ifndef PLIMSOLL_REPORT_MODEL_FIT_PARTS_H
#define PLIMSOLL_REPORT_MODEL_FIT_PARTS_H

#include "report/model/fit.h"

/* The largest batches, where they were searched. */
void plim_fit_say_batches(plim_page *page, const plim_fitted *fitted);
/* The need on cards of 8 to 141 GB, where the table was made. */
void plim_fit_say_cards(plim_page *page, const plim_fitted *fitted);

#endif
