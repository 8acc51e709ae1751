/*
 * files.c - loading histories one after the other, and saying which of them failed, and why.
 */
#include "cli/files.h"

#include "base/error.h"
#include "cli/output.h"
#include "cli/reading.h"

#include <stdlib.h>

typedef struct plim_file_parts {
    plim_history *history;
    plim_inspection *inspection;
    const plim_device_inspection **devices;
} plim_file_parts;

static plim_status load(plim_inspect_file *file, plim_file_parts *parts,
                        const plim_inspect_options *options)
{
    plim_error *err = &file->error;
    PLIM_TRY(plim_reading_history(file->path, &parts->history, err));
    PLIM_TRY(plim_inspect(parts->history, options, &parts->inspection, err));
    const size_t count = plim_inspection_device_count(parts->inspection);
    parts->devices = calloc(count > 0 ? count : 1, sizeof *parts->devices);
    if (parts->devices == NULL) {
        return plim_fail_memory(err, "listing devices");
    }
    for (size_t i = 0; i < count; i++) {
        parts->devices[i] = plim_inspection_device(parts->inspection, i);
    }
    for (int i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        file->anomalies[i] = plim_inspection_anomaly_count(parts->inspection, (plim_anomaly)i);
    }
    file->devices = parts->devices;
    file->device_count = count;
    file->history = parts->history; /* last: it says that all the rest is there */
    return PLIM_OK;
}

bool plim_files_load(const char *who, char *const *paths, size_t count,
                     const plim_inspect_options *options, plim_files *ret)
{
    plim_files files = { .count = count };
    files.items = calloc(count, sizeof *files.items);
    files.parts = calloc(count, sizeof *files.parts);
    if (files.items == NULL || files.parts == NULL) {
        free(files.items);
        free(files.parts);
        plim_say(who, "out of host memory while listing files");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        files.items[i].path = paths[i];
        if (load(&files.items[i], &files.parts[i], options) != PLIM_OK) {
            plim_reading_failed(who, paths[i], &files.items[i].error);
            files.failed_count++;
        }
    }
    *ret = files;
    return true;
}

void plim_files_deinit(plim_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->parts[i].devices);
        plim_inspection_destroy(files->parts[i].inspection);
        plim_history_destroy(files->parts[i].history);
    }
    free(files->items);
    free(files->parts);
    *files = (plim_files){ 0 };
}
