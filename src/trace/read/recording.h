/*
 * recording.h - reading a recording from an open input.
 */
#ifndef PLIMSOLL_TRACE_READ_RECORDING_H
#define PLIMSOLL_TRACE_READ_RECORDING_H

#include "base/input.h"
#include "plimsoll/recorder.h"

/* As plim_recording_load(); nothing of the input has been consumed. `options` may be NULL. */
plim_status plim_recording_read(plim_input *input, const plim_load_options *options,
                                plim_history **ret_history, plim_error *err);

#endif
