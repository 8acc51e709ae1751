/*
 * save.h - the inside of writing a history as a recording.
 *
 *   save.c        the file from its first chunk to its last
 *   save_state.c  what stood at the start and at the end of a device
 *   save_rows.c   its events and annotations as rows, and what rows have no place for
 */
#ifndef PLIMSOLL_TRACE_WRITE_SAVE_H
#define PLIMSOLL_TRACE_WRITE_SAVE_H

#include "history/timeline.h"
#include "trace/write/origin.h"
#include "trace/write/state.h"

/* An annotation of the history, in the order the file has them: by device, then as they are. */
typedef struct plim_saved_annotation {
    int32_t device;
    uint32_t string; /* of the file */
    uint64_t index;
} plim_saved_annotation;

typedef struct plim_saving {
    const plim_mem *mem;
    const plim_history *history;
    plim_trace_names names;
    plim_chunk_file file;
    plim_state_writer state;
    PLIM_VEC(plim_saved_annotation) annotations;
    size_t annotations_done;
} plim_saving;

/* A device of the history with what was worked out of it. */
typedef struct plim_saved_device {
    const plim_device_history *device;
    plim_timeline timeline;
    plim_origins origins;
} plim_saved_device;

plim_status plim_saving_start(plim_saving *saving, const plim_saved_device *saved, plim_error *err);
plim_status plim_saving_end(plim_saving *saving, const plim_device_history *device,
                            plim_error *err);

/* Writes the rows of a device; without events where `saved` is NULL. */
plim_status plim_saving_rows(plim_saving *saving, int32_t device, const plim_saved_device *saved,
                             plim_error *err);
plim_status plim_saving_notes(plim_saving *saving, const plim_saved_device *saved, plim_error *err);

/* Fails with the error of the file. */
static inline plim_status plim_saving_failed(const plim_saving *saving, plim_error *err)
{
    if (err != NULL) {
        *err = saving->file.error;
    }
    return saving->file.error.status;
}

#endif
