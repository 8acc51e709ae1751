/*
 * replay_text.h - the page of a replay: how far to believe it, and what became of each conf.
 */
#ifndef PLIMSOLL_REPORT_REPLAY_TEXT_H
#define PLIMSOLL_REPORT_REPLAY_TEXT_H

#include "report/replay_page.h"

typedef struct plim_replay_view {
    bool shows_fidelity_whole;
    const char *predicted_path; /* where the predicted history was written, or NULL */
} plim_replay_view;

/* rows  the recorded settings first
 * out   takes the page; ask plim_text_status() afterwards */
void plim_replay_text_write(plim_text *out, const plim_style *style, const plim_replay_view *view,
                            const plim_replay_input *input, const plim_replay_row *rows,
                            size_t count);

#endif
