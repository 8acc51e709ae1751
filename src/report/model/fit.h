/*
 * fit.h - the page of `plimsoll fit`.
 */
#ifndef PLIMSOLL_REPORT_MODEL_FIT_H
#define PLIMSOLL_REPORT_MODEL_FIT_H

#include "report/model/page.h"

#include "plimsoll/fit.h"

/** The answer, the stacks that were tried, the changes of the cheapest, and the conditions. */
void plim_fit_page(plim_page *page, const char *const *argv, const plim_fitted *fitted);
/** "autocast=bf16 checkpoint"; "as it is" of none. In the page. */
const char *plim_fit_stack_text(plim_page *page, const plim_fit_trial *trial);
/** "fits", "short", "refused", "no_effect", "broken", "unknown"; a constant. */
const char *plim_fit_answer_name(plim_fit_answer answer);

#endif
