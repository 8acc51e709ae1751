/*
 * save.c - a history as a snapshot of PyTorch's, from its root down (what is written
 * when: docs/formats/snapshot-out.md).
 */
#include "torch/save.h"

#include "base/error.h"
#include "base/save_file.h"

/* The host's events and segments, or NULL without any. */
static const plim_device_history *host_of(const plim_history *history)
{
    const size_t count = plim_history_device_count(history);
    const plim_device_history *last = count == 0 ? NULL : plim_history_device(history, count - 1);
    return last != NULL && last->device == PLIM_HOST_DEVICE &&
                   (last->events.count > 0 || last->segment_count > 0)
               ? last
               : NULL;
}

static plim_status put_root(plim_save *save)
{
    const plim_device_history *host = host_of(save->history);
    if (save->torch < PLIM_TORCH(2, 0)) {
        return plim_save_segments(save, false); /* that was all */
    }
    plim_save_begin_record(save);
    plim_save_text(save, TEXT_SEGMENTS);
    PLIM_TRY(plim_save_segments(save, false));
    plim_save_text(save, TEXT_DEVICE_TRACES);
    PLIM_TRY(plim_save_traces(save));
    if (save->torch >= PLIM_TORCH(2, 3)) {
        plim_save_text(save, TEXT_ALLOCATOR_SETTINGS);
        PLIM_TRY(plim_save_settings(save));
    }
    if (save->torch >= PLIM_TORCH(2, 5)) {
        plim_save_text(save, TEXT_EXTERNAL_ANNOTATIONS);
        PLIM_TRY(plim_save_annotations(save));
    }
    if (save->torch >= PLIM_TORCH(2, 14) && host != NULL) {
        plim_save_text(save, TEXT_HOST_SEGMENTS);
        PLIM_TRY(plim_save_segments(save, true));
        plim_save_text(save, TEXT_HOST_TRACES);
        PLIM_TRY(plim_save_events(save, &host->events));
    }
    plim_save_end_record(save);
    return PLIM_OK;
}

static plim_status put_pickle(plim_save *save)
{
    PLIM_TRY(plim_save_init_shared(save));
    plim_emit_begin(&save->out);
    PLIM_TRY(put_root(save));
    return plim_emit_end(&save->out);
}

plim_status plim_snapshot_write(const plim_history *history,
                                const plim_snapshot_save_options *options, plim_sink sink,
                                plim_error *err)
{
    plim_save save = { .history = history, .err = err, .torch = PLIM_TORCH(2, 11) };
    if (options != NULL) {
        save.mem = options->mem;
        save.torch = options->torch != 0 ? options->torch : save.torch;
    }
    save.mem = plim_mem_or_heap(save.mem);
    plim_emit_init(&save.out, save.mem, sink, err);
    const plim_status status = put_pickle(&save);
    plim_emit_deinit(&save.out);
    plim_save_deinit_shared(&save);
    return status;
}

plim_status plim_snapshot_save(const plim_history *history, const char *path,
                               const plim_snapshot_save_options *options, plim_error *err)
{
    plim_save_file file;
    PLIM_TRY(plim_save_file_open(&file, path, options == NULL ? NULL : options->mem, err));
    const plim_status status =
        plim_snapshot_write(history, options, plim_save_file_sink(&file), err);
    return plim_save_file_close(&file, status, err);
}
