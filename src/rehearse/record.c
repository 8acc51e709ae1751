/*
 * record.c - the snapshots of processes as files. See rehearsal.h.
 */
#include "base/error.h"
#include "rehearse/rehearsal.h"

#include "plimsoll/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES_MORE 64u /* of ".rank3" or ".process1234" */

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

/* As PyTorch wrote it, to the byte. */
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

static plim_status convert(const char *source, const char *path, plim_error *err)
{
    plim_history *history = NULL;
    plim_status status = plim_history_load(source, NULL, &history, err);
    if (status == PLIM_OK) {
        status = plim_history_save(history, path, err);
    }
    plim_history_destroy(history);
    return status;
}

/* "out.pickle" of rank 3 is "out.rank3.pickle". */
static char *name_for(plim_arena *arena, const char *path, const plim_rehearsed_process *process,
                      bool is_first)
{
    const size_t bytes = strlen(path) + NAME_BYTES_MORE;
    char *name = plim_arena_alloc(arena, bytes);
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

plim_status plim_rehearsal_record(plim_rehearsal *rehearsal, const char *path,
                                  const char *const **ret_names, size_t *ret_count, plim_error *err)
{
    const plim_rehearsal_outcome *outcome = &rehearsal->outcome;
    const bool is_recording = strcmp(strrchr(path, '.'), ".plim") == 0;
    const char **names =
        plim_arena_alloc(&rehearsal->arena, (outcome->process_count + 1) * sizeof(*names));
    size_t count = 0;
    for (size_t i = 0; i < outcome->process_count && names != NULL; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        if (process->snapshot_path == NULL) {
            continue;
        }
        names[count] = name_for(&rehearsal->arena, path, process, count == 0);
        if (names[count] == NULL) {
            names = NULL;
            break;
        }
        PLIM_TRY(is_recording ? convert(process->snapshot_path, names[count], err)
                              : copy_file(process->snapshot_path, names[count], err));
        count++;
    }
    if (names == NULL) {
        return plim_fail_memory(err, "writing recordings");
    }
    if (count == 0) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "%s: nothing was recorded, no process left a snapshot", path);
    }
    *ret_names = names;
    *ret_count = count;
    return PLIM_OK;
}
