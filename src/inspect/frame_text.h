/*
 * frame_text.h - how a frame reads: `train.py:42 in forward`, `at::native::empty_like`.
 */
#ifndef PLIMSOLL_INSPECT_FRAME_TEXT_H
#define PLIMSOLL_INSPECT_FRAME_TEXT_H

#include "base/text.h"

#include "plimsoll/history.h"

/**
 * Add a frame's text.
 *
 * full  the path as it was recorded and C++ names with their arguments; otherwise the file's
 *       name (with its folder for __init__.py, which says nothing) and C++ names cut short
 *
 * The text is as untrusted as the history: a page cleans it where it is drawn.
 */
void plim_frame_text_add(plim_text *out, const plim_history *history, uint32_t frame, bool full);

#endif
