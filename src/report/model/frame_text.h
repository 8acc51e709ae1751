/*
 * frame_text.h - how a frame reads: `train.py:42 in forward`, `at::native::empty_like`.
 */
#ifndef PLIMSOLL_REPORT_MODEL_FRAME_TEXT_H
#define PLIMSOLL_REPORT_MODEL_FRAME_TEXT_H

#include "base/text.h"
#include "report/model/page.h"

#include "plimsoll/history.h"

/**
 * Add a frame's text.
 *
 * full  the path as it was recorded and C++ names with their arguments; otherwise the file's
 *       name (with its folder for __init__.py, which says nothing) and C++ names cut short
 *
 * The text is as untrusted as the history: it goes to a plim_term_line, which cleans it.
 */
void plim_frame_text_add(plim_text *out, const plim_history *history, uint32_t frame, bool full);

/** The same as words that lie in the page, after others. */
plim_fact plim_frame_words(plim_page *page, const char *lead, const plim_history *history,
                           uint32_t frame, bool full);

#endif
