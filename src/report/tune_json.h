/*
 * tune_json.h - the document `tune/1` (docs/formats/tune-json.md).
 */
#ifndef PLIMSOLL_REPORT_TUNE_JSON_H
#define PLIMSOLL_REPORT_TUNE_JSON_H

#include "report/tune_page.h"

/** errors  PLIM_IO: the sink failed */
plim_status plim_tune_json_write(plim_sink sink, const plim_replay_input *input,
                                 const plim_tuning *tuning, plim_error *err);

#endif
