/*
 * rehearse_text.h - the page of a rehearsal: does it fit, what it takes, when, and how sure.
 */
#ifndef PLIMSOLL_REPORT_REHEARSE_TEXT_H
#define PLIMSOLL_REPORT_REHEARSE_TEXT_H

#include "base/text.h"
#include "report/rehearse_json.h"

/* out  takes the page; ask plim_text_status() afterwards */
void plim_rehearse_text_write(plim_text *out, const plim_style *style,
                              const plim_rehearsed *rehearsed);

/* The table of a search or a sweep. */
void plim_rehearse_text_write_tries(plim_text *out, const plim_style *style,
                                    const plim_rehearse_tries *tries);

#endif
