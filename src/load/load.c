/*
 * load.c - looks at the first bytes of a file and hands it to the room that reads such files.
 */
#include "plimsoll/load.h"

#include "base/error.h"
#include "torch/read.h"
#include "trace/recording.h"

plim_status plim_history_load(const char *path, const plim_load_options *options,
                              plim_history **ret_history, plim_error *err)
{
    plim_input *input = NULL;
    plim_window window = { 0 };
    PLIM_TRY(plim_input_open(path, options == NULL ? NULL : options->mem, &input, err));
    plim_status status = plim_input_refill(input, 0, PLIM_RECORDING_SNIFF_BYTES, &window, err);
    if (status == PLIM_OK) {
        status = plim_recording_looks_like(&window)
                     ? plim_recording_read(input, options, ret_history, err)
                     : plim_snapshot_read(input, options, ret_history, err);
    }
    plim_input_close(input);
    return status;
}
