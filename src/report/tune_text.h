/*
 * tune_text.h - the page of a search: the table, the winner as a line to paste, what it saves.
 */
#ifndef PLIMSOLL_REPORT_TUNE_TEXT_H
#define PLIMSOLL_REPORT_TUNE_TEXT_H

#include "report/tune_page.h"

/* out  takes the page; ask plim_text_status() afterwards */
void plim_tune_text_write(plim_text *out, const plim_style *style, const plim_tune_view *view,
                          const plim_replay_input *input, const plim_tuning *tuning);

#endif
