/*
 * recording.h - reading a recording from an input that somebody else has opened.
 */
#ifndef PLIMSOLL_TRACE_RECORDING_H
#define PLIMSOLL_TRACE_RECORDING_H

#include "base/input.h"
#include "plimsoll/recorder.h"

#define PLIM_RECORDING_SNIFF_BYTES 8

/* Whether a file that begins so is a recording. */
bool plim_recording_looks_like(const plim_window *window);

/* As plim_recording_load(); nothing of the input has been consumed. `options` may be NULL. */
plim_status plim_recording_read(plim_input *input, const plim_load_options *options,
                                plim_history **ret_history, plim_error *err);

#endif
