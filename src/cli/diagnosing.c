/*
 * diagnosing.c - see diagnosing.h.
 */
#include "cli/diagnosing.h"

#include "base/error.h"
#include "base/sweep.h"
#include "cli/reading.h"
#include "report/github/annotations.h"

#include "plimsoll/load.h"

#include <errno.h>
#include <stdlib.h>

#define PATH_BYTES 4096u

/* --- one file --- */

/* The document of holders beside a recording, or NULL. One that cannot be used, for which
 * `ret_unused` has the reason, is no failure of the recording's diagnosis; a lack of memory is. */
static plim_status load_holders(const char *path, plim_holders **ret, plim_error *ret_unused,
                                plim_error *err)
{
    char beside[PATH_BYTES];
    plim_error why = { 0 };
    *ret = NULL;
    if (!plim_holders_beside(path, beside, sizeof beside) ||
        plim_holders_read(beside, NULL, ret, &why) == PLIM_OK || why.native == ENOENT) {
        return PLIM_OK;
    }
    if (why.status == PLIM_OUT_OF_HOST_MEMORY) {
        *err = why;
        return why.status;
    }
    *ret_unused = why;
    return PLIM_OK;
}

/* The history of `ret` with the holders that are given, else with those beside its file. */
static plim_status diagnose_with_holders(const plim_diagnose_options *options, plim_diagnosed *ret,
                                         plim_error *err)
{
    plim_diagnose_options with = *options;
    plim_holders *holders = NULL;
    if (options->holders == NULL) {
        PLIM_TRY(load_holders(ret->path, &holders, &ret->holders_error, err));
        with.holders = holders;
    }
    const plim_status status = plim_diagnose(ret->history, &with, &ret->diagnosis, err);
    plim_holders_destroy(holders);
    return status;
}

plim_status plim_diagnosed_load(const char *path, const plim_diagnose_options *options,
                                plim_diagnosed *ret, plim_error *err)
{
    *ret = (plim_diagnosed){ .path = path };
    PLIM_TRY(plim_reading_history(path, &ret->history, err));
    return diagnose_with_holders(options, ret, err);
}

void plim_diagnosed_unload(plim_diagnosed *file)
{
    plim_diagnosis_destroy(file->diagnosis);
    plim_history_destroy(file->history);
    *file = (plim_diagnosed){ 0 };
}

static plim_status keep_ranks(plim_diagnosed_file *file, const plim_diagnosed *diagnosed,
                              size_t index, plim_error *err)
{
    const size_t count = plim_diagnosis_device_count(diagnosed->diagnosis);
    free(file->ranks); /* of an earlier diagnosis of it */
    plim_text_deinit(&file->document);
    plim_text_deinit(&file->annotations);
    file->rank_count = 0;
    file->ranks = calloc(count > 0 ? count : 1, sizeof *file->ranks);
    if (file->ranks == NULL) {
        return plim_fail_memory(err, "keeping figures of a file");
    }
    for (size_t i = 0; i < count; i++) {
        file->ranks[i] = plim_diagnosed_rank_of(diagnosed, index, i);
    }
    file->rank_count = count;
    return PLIM_OK;
}

plim_status plim_diagnosing_keep(plim_diagnosing *work, size_t index, plim_diagnosed *diagnosed,
                                 plim_error *err)
{
    plim_diagnosed_file *const file = &work->files[index];
    PLIM_TRY(keep_ranks(file, diagnosed, index, err));
    if (work->wants_document) {
        PLIM_TRY(plim_diagnose_json_part(diagnosed, &file->document, err));
    }
    return work->is_for_github ? plim_diagnose_annotate(diagnosed, &file->annotations, err)
                               : PLIM_OK;
}

static plim_status diagnose_history(plim_diagnosing *work, size_t index, plim_history *history,
                                    plim_error *err)
{
    plim_diagnosed diagnosed = { .path = work->paths[index], .history = history };
    PLIM_TRY(diagnose_with_holders(work->options, &diagnosed, err));
    const plim_status status = plim_diagnosing_keep(work, index, &diagnosed, err);
    plim_diagnosis_destroy(diagnosed.diagnosis);
    return status;
}

/* A file's failure stays with the file: the others go on. */
static plim_status diagnose_file(void *ctx, size_t index, plim_error *err)
{
    (void)err;
    plim_diagnosing *const work = ctx;
    plim_diagnosed_file *const file = &work->files[index];
    plim_history *history = NULL;
    file->status = plim_history_load(file->path, NULL, &history, &file->error);
    if (file->status == PLIM_OK) {
        file->status = diagnose_history(work, index, history, &file->error);
    }
    plim_history_destroy(history);
    return PLIM_OK;
}

/* --- all of them --- */

static int compare_ranks(const void *left, const void *right)
{
    const plim_diagnosed_rank *const a = left;
    const plim_diagnosed_rank *const b = right;
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    if (a->file != b->file) {
        return a->file < b->file ? -1 : 1;
    }
    return a->device < b->device ? -1 : a->device > b->device;
}

static bool has_memory(const plim_diagnosed_rank *rank)
{
    return rank->device != PLIM_HOST_DEVICE && (rank->peak_reserved_bytes > 0 || rank->ooms > 0);
}

/* is_one  NULL: all of them are */
static void add_ranks(plim_diagnosing *work, const plim_diagnosed_file *file,
                      bool (*is_one)(const plim_diagnosed_rank *rank))
{
    for (size_t i = 0; i < file->rank_count; i++) {
        if (is_one == NULL || is_one(&file->ranks[i])) {
            work->ranks[work->rank_count++] = file->ranks[i];
        }
    }
}

/* The GPUs that have memory; where none has any, all devices. */
plim_status plim_diagnosing_gather(plim_diagnosing *work, plim_error *err)
{
    size_t count = 0;
    free(work->ranks);
    work->rank_count = 0;
    work->failed_count = 0;
    for (size_t i = 0; i < work->count; i++) {
        count += work->files[i].rank_count;
    }
    work->ranks = calloc(count > 0 ? count : 1, sizeof *work->ranks);
    if (work->ranks == NULL) {
        return plim_fail_memory(err, "listing ranks");
    }
    for (size_t i = 0; i < work->count; i++) {
        work->failed_count += work->files[i].status != PLIM_OK;
        add_ranks(work, &work->files[i], has_memory);
    }
    if (work->rank_count == 0) {
        for (size_t i = 0; i < work->count; i++) {
            add_ranks(work, &work->files[i], NULL);
        }
    }
    if (work->rank_count > 0) {
        qsort(work->ranks, work->rank_count, sizeof *work->ranks, compare_ranks);
    }
    return PLIM_OK;
}

plim_status plim_diagnosing_init(plim_diagnosing *work, plim_error *err)
{
    work->files = calloc(work->count > 0 ? work->count : 1, sizeof *work->files);
    if (work->files == NULL) {
        return plim_fail_memory(err, "listing files");
    }
    for (size_t i = 0; i < work->count; i++) {
        work->files[i].path = work->paths[i];
    }
    return PLIM_OK;
}

plim_status plim_diagnosing_run(plim_diagnosing *work, uint32_t threads, plim_error *err)
{
    const plim_sweep_jobs jobs = { .run = diagnose_file, .ctx = work, .count = work->count };
    return plim_sweep(&jobs, threads > 0 ? threads : plim_sweep_default_threads(), err);
}

void plim_diagnosing_deinit(plim_diagnosing *work)
{
    for (size_t i = 0; work->files != NULL && i < work->count; i++) {
        free(work->files[i].ranks);
        plim_text_deinit(&work->files[i].document);
        plim_text_deinit(&work->files[i].annotations);
    }
    free(work->files);
    free(work->ranks);
    *work = (plim_diagnosing){ 0 };
}
