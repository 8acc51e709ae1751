/*
 * read.h - reading a snapshot from an input that the caller has opened.
 */
#ifndef PLIMSOLL_TORCH_READ_H
#define PLIMSOLL_TORCH_READ_H

#include "base/input.h"
#include "plimsoll/snapshot.h"

/* As plim_snapshot_load(); nothing of the input has been consumed. */
plim_status plim_snapshot_read(plim_input *input, const plim_load_options *options,
                               plim_history **ret_history, plim_error *err);

#endif
