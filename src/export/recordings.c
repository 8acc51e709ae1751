/*
 * recordings.c - a history as what it can be read from again: PyTorch's snapshot, and ours.
 */
#include "export/export.h"
#include "torch/save.h"

#include "plimsoll/recorder.h"

plim_status plim_export_snapshot(plim_export_job *job, plim_sink sink, plim_error *err)
{
    const plim_snapshot_save_options options = { .mem = job->mem };
    return plim_snapshot_write(job->history, &options, sink, err);
}

plim_status plim_export_recording(plim_export_job *job, const char *path, plim_error *err)
{
    const plim_recording_save_options options = { .mem = job->mem,
                                                  .compression = PLIM_RECORDING_SAVE_LEVEL };
    return plim_recording_save(job->history, path, &options, err);
}
