/*
 * replay_json.h - the documents `replay/1` and `tune/1` (docs/formats/replay-json.md).
 */
#ifndef PLIMSOLL_REPORT_JSON_REPLAY_JSON_H
#define PLIMSOLL_REPORT_JSON_REPLAY_JSON_H

#include "base/sink.h"
#include "report/model/replay.h"

/* The confs of a replay, the recorded settings first. */
typedef struct plim_replay_rows {
    const plim_replay_row *items;
    size_t count;
    size_t asked; /* index of the row whose members the document itself has */
} plim_replay_rows;

/** page  what it says; errors  PLIM_IO: the sink failed; those of plim_page_status() */
PLIM_MUST_USE plim_status plim_replay_json_write(plim_sink sink, const plim_replay_input *input,
                                                 const plim_replay_rows *rows,
                                                 const plim_page *page, plim_error *err);
/** The same for a search. */
PLIM_MUST_USE plim_status plim_tune_json_write(plim_sink sink, const plim_replay_input *input,
                                               const plim_tuning *tuning, const plim_page *page,
                                               plim_error *err);

#endif
