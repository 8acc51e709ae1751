/*
 * save.c - a history as a recording: all at once, by the thread that asks for it.
 *
 * A recording has what existed at the start and what happened since; a history knows the end. So
 * the start is worked out (history/timeline.h, origin.h) and written as a recorder would have, and
 * what events alone do not show follows in chunks of its own: the end as it was recorded, which
 * no reader has to work out again, and what notes say.
 *
 * The same history gives the same bytes.
 */
#include "trace/write/save.h"

#include "base/error.h"
#include "plimsoll/recorder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what belongs to no device --- */

/* As a recorder would begin, but for the process and the time, of which a history knows nothing. */
static plim_status write_process(plim_saving *saving, plim_error *err)
{
    plim_record_list *const list = &saving->state.list;
    plim_records_number(list, 0);
    plim_records_number(list, 0);
    plim_records_bytes(list, plim_version(), strlen(plim_version()));
    plim_records_bytes(list, "", 0);
    PLIM_TRY(plim_records_close(list, err));
    return plim_state_write(&saving->state, PLIM_CHUNK_PROCESS, err);
}

/* All of them, in their order: so a stack has the same number when the file is read. */
static plim_status write_stacks(plim_saving *saving, plim_error *err)
{
    const uint32_t count = plim_history_stack_count(saving->history);
    for (uint32_t i = 0; i < count; i++) {
        PLIM_TRY(plim_state_stack(&saving->state, i, err));
    }
    return PLIM_OK;
}

/* Devices by number, pinned host memory last, as a history has them. */
static int compare_annotations(const void *a, const void *b)
{
    const plim_saved_annotation *const left = a;
    const plim_saved_annotation *const right = b;
    if (left->device != right->device) {
        return (uint32_t)left->device < (uint32_t)right->device ? -1 : 1;
    }
    return (left->index > right->index) - (left->index < right->index);
}

static plim_status collect_annotations(plim_saving *saving, plim_error *err)
{
    uint64_t count = 0;
    const plim_annotation *const annotations = plim_history_annotations(saving->history, &count);
    for (uint64_t i = 0; i < count; i++) {
        plim_saved_annotation row = { .device = annotations[i].device, .index = i };
        PLIM_TRY(plim_state_string(&saving->state, annotations[i].name, &row.string, err));
        if (!PLIM_VEC_PUSH(saving->mem, &saving->annotations, row)) {
            return plim_fail_memory(err, "saving annotations");
        }
    }
    if (count > 0) {
        qsort(saving->annotations.items, saving->annotations.count,
              sizeof *saving->annotations.items, compare_annotations);
    }
    return PLIM_OK;
}

/* --- devices --- */

static plim_status write_worked_out(plim_saving *saving, const plim_saved_device *saved,
                                    plim_error *err)
{
    PLIM_TRY(plim_saving_start(saving, saved, err));
    PLIM_TRY(plim_saving_notes(saving, saved, err));
    PLIM_TRY(plim_saving_rows(saving, saved->device->device, saved, err));
    return plim_saving_end(saving, saved->device, err);
}

static plim_status write_device(plim_saving *saving, const plim_device_history *device,
                                plim_error *err)
{
    plim_saved_device saved = { .device = device };
    const plim_timeline_options options = { .mem = saving->mem };
    plim_status status =
        plim_timeline_init(&saved.timeline, saving->history, device, &options, err);
    if (status == PLIM_OK) {
        status = plim_origins_init(&saved.origins, saving->history, device, saving->mem, err);
    }
    if (status == PLIM_OK) {
        status = write_worked_out(saving, &saved, err);
    }
    plim_origins_deinit(&saved.origins);
    plim_timeline_deinit(&saved.timeline);
    return status;
}

/* Devices before this one that were annotated and of which nothing else is known. */
static plim_status write_annotated(plim_saving *saving, uint64_t before, plim_error *err)
{
    while (saving->annotations_done < saving->annotations.count) {
        const int32_t device = saving->annotations.items[saving->annotations_done].device;
        if ((uint32_t)device >= before) {
            return PLIM_OK;
        }
        PLIM_TRY(plim_saving_rows(saving, device, NULL, err));
    }
    return PLIM_OK;
}

static plim_status write_devices(plim_saving *saving, plim_error *err)
{
    for (size_t i = 0; i < plim_history_device_count(saving->history); i++) {
        const plim_device_history *const device = plim_history_device(saving->history, i);
        PLIM_TRY(write_annotated(saving, (uint32_t)device->device, err));
        PLIM_TRY(write_device(saving, device, err));
    }
    return write_annotated(saving, UINT64_MAX, err);
}

static plim_status write_end(plim_saving *saving, plim_error *err)
{
    plim_record_list *const list = &saving->state.list;
    uint64_t events = 0;
    for (size_t i = 0; i < plim_history_device_count(saving->history); i++) {
        events += plim_history_device(saving->history, i)->events.count;
    }
    plim_records_number(list, events);
    plim_records_number(list, 0); /* dropped */
    plim_records_number(list, 0); /* stacks lost */
    PLIM_TRY(plim_records_close(list, err));
    return plim_state_write(&saving->state, PLIM_CHUNK_END, err);
}

/* --- the file --- */

static plim_status write_all(plim_saving *saving, plim_error *err)
{
    PLIM_TRY(plim_state_writer_init(&saving->state, err));
    PLIM_TRY(write_process(saving, err));
    PLIM_TRY(plim_state_write_settings(&saving->state, err));
    PLIM_TRY(write_stacks(saving, err));
    PLIM_TRY(collect_annotations(saving, err));
    PLIM_TRY(write_devices(saving, err));
    return write_end(saving, err);
}

/* Takes away what was begun, unless it is a device or a pipe. */
static void remove_begun(const plim_saving *saving, const char *path)
{
    struct stat about;
    if (saving->file.fd >= 0 && fstat(saving->file.fd, &about) == 0 && S_ISREG(about.st_mode)) {
        (void)unlink(path);
    }
}

static plim_status save(plim_saving *saving, const char *path, uint32_t level, plim_error *err)
{
    PLIM_TRY(plim_names_init(&saving->names, false, saving->mem, err));
    PLIM_TRY(plim_chunk_file_open(&saving->file, path, level, saving->mem, err));
    const plim_status status = write_all(saving, err);
    if (status != PLIM_OK) {
        remove_begun(saving, path);
        return status;
    }
    plim_chunk_file_close(&saving->file);
    return plim_saving_failed(saving, err);
}

plim_status plim_recording_save(const plim_history *history, const char *path,
                                const plim_recording_save_options *options, plim_error *err)
{
    const plim_recording_save_options defaults = { 0 };
    options = options == NULL ? &defaults : options;
    const plim_mem *const mem = plim_mem_or_heap(options->mem);
    plim_saving saving = { .mem = mem, .history = history, .file = { .mem = mem, .fd = -1 } };
    saving.state = (plim_state_writer){
        .mem = mem, .history = history, .names = &saving.names, .file = &saving.file
    };
    const plim_status status = save(&saving, path, options->compression, err);
    plim_chunk_file_close(&saving.file);
    plim_state_writer_deinit(&saving.state);
    plim_names_deinit(&saving.names);
    PLIM_VEC_FREE(mem, &saving.annotations);
    return status;
}
