/*
 * replay_json.h - the document `replay/1` (docs/formats/replay-json.md).
 */
#ifndef PLIMSOLL_REPORT_REPLAY_JSON_H
#define PLIMSOLL_REPORT_REPLAY_JSON_H

#include "report/replay_page.h"

/**
 * rows    the recorded settings first
 * asked   index of the row whose members the document itself has
 * errors  PLIM_IO: the sink failed
 */
plim_status plim_replay_json_write(plim_sink sink, const plim_replay_input *input,
                                   const plim_replay_row *rows, size_t count, size_t asked,
                                   plim_error *err);

#endif
