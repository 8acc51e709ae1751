/*
 * frame_text.h - a frame's text (inspect/frame_text.h) as words of a page.
 */
#ifndef PLIMSOLL_REPORT_MODEL_FRAME_TEXT_H
#define PLIMSOLL_REPORT_MODEL_FRAME_TEXT_H

#include "inspect/frame_text.h"
#include "report/model/page.h"

/** The frame's text as words that lie in the page, after others. */
plim_fact plim_frame_words(plim_page *page, const char *lead, const plim_history *history,
                           uint32_t frame, bool full);

#endif
