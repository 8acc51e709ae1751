/*
 * rehearse_record.c - --record: what processes left, as files. See rehearse_record.h.
 */
#include "cli/rehearse_record.h"

#include "base/error.h"
#include "base/memory.h"
#include "cli/output.h"
#include "plimsoll/load.h"
#include "plimsoll/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PICKLE ".pickle"
#define PLIM   ".plim"

#define RECORDING_LEVEL 3 /* of zstd: what it costs is nothing beside a rehearsal */

static bool ends_in(const char *path, const char *end)
{
    const size_t length = strlen(path);
    const size_t end_length = strlen(end);
    return length > end_length && strcmp(path + length - end_length, end) == 0;
}

bool plim_rehearse_record_is_known(const char *path)
{
    return ends_in(path, PICKLE) || ends_in(path, PLIM);
}

static plim_status copy_bytes(FILE *from, FILE *to, const char *path, plim_error *err)
{
    char piece[1 << 16];
    size_t got = 0;
    while ((got = fread(piece, 1, sizeof(piece), from)) > 0) {
        if (fwrite(piece, 1, got, to) != got) {
            return plim_fail_errno(err, errno, "%s: cannot be written", path);
        }
    }
    return ferror(from) != 0 ? plim_fail_errno(err, errno, "a snapshot cannot be read") : PLIM_OK;
}

static plim_status copy_file(const char *source, const char *path, plim_error *err)
{
    FILE *from = fopen(source, "re");
    if (from == NULL) {
        return plim_fail_errno(err, errno, "%s: cannot be read", source);
    }
    FILE *to = fopen(path, "we");
    if (to == NULL) {
        (void)fclose(from);
        return plim_fail_errno(err, errno, "%s: cannot be written", path);
    }
    plim_status status = copy_bytes(from, to, path, err);
    (void)fclose(from);
    if (fclose(to) != 0 && status == PLIM_OK) {
        status = plim_fail_errno(err, errno, "%s: cannot be written", path);
    }
    return status;
}

/* A snapshot as a recording: what it leaves out, plim_recording_save() says. */
static plim_status convert(const char *source, const char *path, plim_error *err)
{
    const plim_recording_save_options options = { .compression = RECORDING_LEVEL };
    plim_history *history = NULL;
    plim_status status = plim_history_load(source, NULL, &history, err);
    if (status == PLIM_OK) {
        status = plim_recording_save(history, path, &options, err);
    }
    plim_history_destroy(history);
    return status;
}

/* "out.pickle" of rank 3 is "out.rank3.pickle"; the caller frees it. NULL: no memory. */
static char *name_for(const char *path, const plim_rehearsed_process *process, bool is_first)
{
    const size_t bytes = strlen(path) + 64;
    char *name = malloc(bytes);
    if (name == NULL) {
        return NULL;
    }
    const char *dot = strrchr(path, '.');
    const int stem = (int)(dot - path);
    if (is_first) {
        (void)snprintf(name, bytes, "%s", path);
    } else if (process->world_size > 1) {
        (void)snprintf(name, bytes, "%.*s.rank%" PRIu64 "%s", stem, path, process->rank, dot);
    } else {
        (void)snprintf(name, bytes, "%.*s.process%" PRId64 "%s", stem, path, process->pid, dot);
    }
    return name;
}

static bool record_one(const char *who, const char *source, const char *path)
{
    plim_error err = { 0 };
    const plim_status status =
        ends_in(path, PLIM) ? convert(source, path, &err) : copy_file(source, path, &err);
    if (status != PLIM_OK) {
        plim_say(who, "%s", err.message);
    }
    return status == PLIM_OK;
}

bool plim_rehearse_record(const char *who, const char *path, plim_rehearsing_result *result)
{
    const plim_rehearsal_outcome *outcome = result->rehearsed.outcome;
    result->recordings = calloc(outcome->process_count + 1, sizeof(*result->recordings));
    if (result->recordings == NULL) {
        plim_say(who, "out of host memory while writing recordings");
        return false;
    }
    size_t count = 0;
    bool is_good = true;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        char *name = process->snapshot_path != NULL ? name_for(path, process, count == 0) : NULL;
        if (name != NULL && record_one(who, process->snapshot_path, name)) {
            result->recordings[count++] = name;
        } else {
            is_good = is_good && name == NULL;
            free(name);
        }
    }
    if (count == 0 && is_good) {
        plim_say(who, "%s: nothing was recorded, no process left a snapshot", path);
        is_good = false;
    }
    result->rehearsed.recordings = (const char *const *)result->recordings;
    result->rehearsed.recording_count = count;
    return is_good;
}

void plim_rehearse_record_forget(plim_rehearsing_result *result)
{
    for (size_t i = 0; i < result->rehearsed.recording_count; i++) {
        free(result->recordings[i]);
    }
    free((void *)result->recordings);
    result->recordings = NULL;
    result->rehearsed.recording_count = 0;
}
